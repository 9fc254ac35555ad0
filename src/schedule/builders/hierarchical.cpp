// SPDX-License-Identifier: Apache-2.0
// Hierarchical: groups of ranks that are near each other (a node). sharded: reduce-scatter inside each group, one
// allreduce across groups for each shard, all-gather inside: all ranks of a group share its way out. leaders: reduce to
// each group's first rank, allreduce among those, broadcast inside. The algorithms inside and across are other
// schedules; inside runs as much of one as its reduction needs, and then that backwards. (Leaders: Karonis et al. 2000,
// *Exploiting hierarchy in parallel computer networks to optimize collective operation performance*; shards: Cho et al.
// 2019, *BlueConnect: decomposing all-reduce for deep learning on heterogeneous network hierarchy*.)
#include <algorithm>
#include <array>

#include "base/registry.hpp"
#include "schedule/builders.hpp"
#include "schedule/combinators.hpp"

namespace ringmaster::schedule {
namespace {

/// As asked for, or the largest factor up to the root of the rank count; the root itself where there is none.
int group_of(const BuildContext& context) {
  const std::int64_t asked = context.parameters.integer("group");
  if (asked > 0) return static_cast<int>(std::min<std::int64_t>(asked, context.ranks));
  int root = 1;
  int factor = 1;
  for (; root * root <= context.ranks; ++root) {
    if (context.ranks % root == 0) factor = root;
  }
  return factor > 1 ? factor : root - 1;
}

/// Whether a level's algorithm exists and runs for so many ranks.
Verdict level_supports(const std::string& name, int ranks) {
  const Builder* builder = find_entry(builders(), name);
  if (builder == nullptr) {
    return Verdict::no("unknown schedule '" + name + "' (" + suggestion(name, entry_names(builders())) + ")");
  }
  if (ranks < 2) return Verdict::yes();
  const Verdict verdict = builder->supports(completed(*builder, {ranks, {}, {}}));
  return verdict ? verdict : Verdict::no(name + ": " + verdict.reason);
}

Verdict supports(const BuildContext& context) {
  const int group = group_of(context);
  const std::string& inner = context.parameters.text("inner");
  const int groups = (context.ranks + group - 1) / group;
  for (const Verdict& verdict : {level_supports(inner, group), level_supports(inner, context.ranks % group),
                                 level_supports(context.parameters.text("outer"), groups)}) {
    if (!verdict) return verdict;
  }
  return Verdict::yes();
}

Lane level(const std::string& name, int ranks) { return merged(build(name, {ranks, {}, {}})); }

Schedule build_levels(const BuildContext& context) {
  if (context.ranks == 1) return side_by_side("hierarchical", 1, {alone()});
  const std::string inner = context.parameters.text("inner");
  const std::string outer = context.parameters.text("outer");
  const auto reduction = context.parameters.text("form") == "leaders" ? reduction_to_first : reduction_to_shards;
  const Lane lane = nested(
      context.ranks, group_of(context), [&](int ranks) { return reduction(level(inner, ranks), ranks); },
      [&](int ranks) { return level(outer, ranks); });
  return side_by_side("hierarchical", context.ranks, {relabel(lane, context.order)});
}

const std::array<ParameterSpec, 4> specs{
    {{"group", ParameterType::integer, "ranks", "0", 0, 1e6, "ranks of a group; 0: about the root of the rank count"},
     {"form",
      ParameterType::text,
      "",
      "sharded",
      0,
      0,
      "every rank takes its shard across, or only each group's first rank",
      {"sharded", "leaders"}},
     {"inner", ParameterType::text, "", "direct", 0, 0, "schedule inside a group"},
     {"outer", ParameterType::text, "", "ring", 0, 0, "schedule across groups"}}};

}  // namespace

const Builder& hierarchical_builder() {
  static const Builder builder{"hierarchical", "two levels: inside groups of near ranks, then across groups", specs,
                               supports, build_levels};
  return builder;
}

}  // namespace ringmaster::schedule
