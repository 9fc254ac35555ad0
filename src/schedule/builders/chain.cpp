// SPDX-License-Identifier: Apache-2.0
// Chain: a reduction along the ranks to the last one, then the broadcast back. Whole vectors, two from each inner rank,
// only between neighbours: pipelined by segments it reaches the rate of the slowest link. (Pjesivac-Grbovic et al.
// 2007, *Performance analysis of MPI collective operations*: pipeline.)
#include "schedule/builders.hpp"
#include "schedule/combinators.hpp"

namespace ringmaster::schedule {
namespace {

Schedule build(const BuildContext& context) {
  const int ranks = context.ranks;
  if (ranks == 1) return side_by_side("chain", 1, {alone()});
  std::vector<Rank> parent;
  for (Rank rank = 0; rank < ranks; ++rank) parent.push_back(std::min(rank + 1, ranks - 1));
  const Lane lane = there_and_back(reduce_along(earliest(std::move(parent))));
  return side_by_side("chain", ranks, {relabel(lane, context.order)});
}

}  // namespace

const Builder& chain_builder() {
  static const Builder builder{"chain",
                               "reduce along the ranks, broadcast back; for segments that follow each other",
                               {},
                               [](const BuildContext&) { return Verdict::yes(); },
                               build};
  return builder;
}

}  // namespace ringmaster::schedule
