// SPDX-License-Identifier: Apache-2.0
#include "schedule/builders.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/registry.hpp"

namespace ringmaster::schedule {
namespace {

void check_order(const BuildContext& context) {
  if (context.order.empty()) return;
  std::vector<Rank> sorted = context.order;
  std::sort(sorted.begin(), sorted.end());
  bool permutation = static_cast<int>(sorted.size()) == context.ranks;
  for (std::size_t i = 0; permutation && i < sorted.size(); ++i) permutation = sorted[i] == static_cast<Rank>(i);
  if (!permutation) {
    throw UserError("rank_order must name every rank from 0 to " + std::to_string(context.ranks - 1) + " once",
                    "leave it out for the natural order");
  }
}

}  // namespace

std::span<const Builder* const> builders() {
#define BUILDER(name) &name##_builder(),
  static const std::array all{
#include "schedule/builders.def"
  };
#undef BUILDER
  return all;
}

BuildContext completed(const Builder& builder, BuildContext context) {
  Parameters parameters = default_parameters(builder.parameters);
  for (const auto& [key, value] : context.parameters.values()) parameters.set(key, value);
  context.parameters = std::move(parameters);
  return context;
}

Schedule build(std::string_view name, const BuildContext& context) {
  std::string wanted(name);
  std::replace(wanted.begin(), wanted.end(), '_', '-');
  const Builder& builder = require_entry(builders(), wanted, "schedule");
  if (context.ranks < 1) throw UserError("a schedule needs at least one rank", "--ranks 1 or more");
  check_order(context);
  const BuildContext complete = completed(builder, context);
  if (const Verdict verdict = builder.supports(complete); !verdict) {
    throw UserError(std::string(builder.name) + ": " + verdict.reason, "ringmaster list collectives names the others");
  }
  Schedule schedule = builder.build(complete);
  const std::string parameters = complete.parameters.describe();
  schedule.name = std::string(builder.name) + (parameters.empty() ? "" : " " + parameters);
  return schedule;
}

}  // namespace ringmaster::schedule
