// SPDX-License-Identifier: Apache-2.0
// The registry of library allreduces: one file in libraries/ and one line in libraries.def each.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "collective/operation.hpp"
#include "transport/process_group.hpp"

namespace ringmaster::collective {

struct Library {
  const char* name;
  const char* summary;
  std::string (*what_runs)();
  /// Whether this group can run it (the threads of a test have no MPI).
  Verdict (*supports)(const transport::ProcessGroup&);
  std::unique_ptr<Operation> (*prepare)(transport::ProcessGroup&, const Buffers&);
};

std::span<const Library* const> libraries();

#define LIBRARY(name) const Library& name##_library();
#include "collective/libraries.def"
#undef LIBRARY

}  // namespace ringmaster::collective
