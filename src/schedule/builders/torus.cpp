// SPDX-License-Identifier: Apache-2.0
// Torus: ranks in rows and columns; rings reduce-scatter the rows, allreduce the columns, all-gather the rows. Least
// bytes in 2 (rows + columns - 2) steps instead of a ring's 2 (p - 1). (Mikami et al. 2018, *Massively distributed SGD:
// ImageNet/ResNet-50 training in a flash*.)
#include <fmt/core.h>

#include <array>

#include "schedule/builders.hpp"
#include "schedule/combinators.hpp"

namespace ringmaster::schedule {
namespace {

/// As asked for, or the largest factor up to the root of the rank count.
int rows_of(const BuildContext& context) {
  const auto asked = static_cast<int>(context.parameters.integer("rows"));
  if (asked != 0) return asked;
  int rows = 1;
  for (int factor = 2; factor * factor <= context.ranks; ++factor) {
    if (context.ranks % factor == 0) rows = factor;
  }
  return rows;
}

Verdict supports(const BuildContext& context) {
  const int rows = rows_of(context);
  const int ranks = context.ranks;
  if (rows == 1) return Verdict::no(fmt::format("{} ranks make no rows and columns of at least 2", ranks));
  if (ranks % rows != 0 || ranks / rows < 2) {
    return Verdict::no(fmt::format("{} ranks do not make {} rows of at least 2", ranks, rows));
  }
  return Verdict::yes();
}

Lane ring(int ranks) { return build("ring", {ranks, {}, {}}).lanes.front(); }

Schedule build_torus(const BuildContext& context) {
  const int columns = context.ranks / rows_of(context);
  const Lane lane = nested(
      context.ranks, columns, [](int ranks) { return reduction_to_shards(ring(ranks), ranks); }, ring);
  return side_by_side("torus", context.ranks, {relabel(lane, context.order)});
}

const std::array<ParameterSpec, 1> specs{
    {{"rows", ParameterType::integer, "", "0", 0, 1e6, "rows of ranks; 0: the factor nearest to the root"}}};

}  // namespace

const Builder& torus_builder() {
  static const Builder builder{"torus", "rings along rows, then columns; least bytes, about 4 sqrt(p) steps", specs,
                               supports, build_torus};
  return builder;
}

}  // namespace ringmaster::schedule
