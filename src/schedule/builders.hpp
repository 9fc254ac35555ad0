// SPDX-License-Identifier: Apache-2.0
// The registry of schedule builders: one file in builders/ and one line in builders.def an algorithm.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/spec.hpp"
#include "schedule/schedule.hpp"

namespace ringmaster::schedule {

/// What a builder is asked for. `order` (empty: 0..ranks-1) places ranks on the algorithm's logical positions.
struct BuildContext {
  int ranks = 1;
  std::vector<Rank> order;
  Parameters parameters;
};

struct Builder {
  const char* name;
  const char* summary;
  std::span<const ParameterSpec> parameters;
  Verdict (*supports)(const BuildContext&);
  Schedule (*build)(const BuildContext&);
};

/// All allreduce builders, in the order of builders.def.
std::span<const Builder* const> builders();

/// The context with defaults for the parameters that it does not give.
BuildContext completed(const Builder& builder, BuildContext context);

/// Looks up and builds; parameters not given take their defaults. Throws UserError if the name is unknown or
/// the builder says no.
Schedule build(std::string_view name, const BuildContext& context);

#define BUILDER(name) const Builder& name##_builder();
#include "schedule/builders.def"
#undef BUILDER

}  // namespace ringmaster::schedule
