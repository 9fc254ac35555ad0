// SPDX-License-Identifier: Apache-2.0
// Bidirectional ring: two rings over half of the vector each, in opposite directions. Bytes and steps of a ring, twice
// the messages of half the size: it gains where both neighbours are reached over links of their own (torus, NVLink
// mesh), and nothing behind one full-duplex port, which a plain ring fills both ways. (Jain and Sabharwal 2010,
// *Optimal bucket algorithms for large MPI collectives on torus interconnects*.)
#include <algorithm>
#include <numeric>

#include "schedule/builders.hpp"
#include "schedule/combinators.hpp"

namespace ringmaster::schedule {
namespace {

Schedule build(const BuildContext& context) {
  const int ranks = context.ranks;
  if (ranks == 1) return side_by_side("bidirectional-ring", 1, {alone()});
  std::vector<Rank> backwards = context.order;
  if (backwards.empty()) {
    backwards.resize(static_cast<std::size_t>(ranks));
    std::iota(backwards.begin(), backwards.end(), 0);
  }
  std::reverse(backwards.begin(), backwards.end());
  const Lane one_way = schedule::build("ring", {ranks, context.order, {}}).lanes.front();
  const Lane other_way = schedule::build("ring", {ranks, backwards, {}}).lanes.front();
  return side_by_side("bidirectional-ring", ranks, {one_way, other_way});
}

}  // namespace

const Builder& bidirectional_ring_builder() {
  static const Builder builder{"bidirectional-ring",
                               "two rings in opposite directions, half of the vector each",
                               {},
                               [](const BuildContext&) { return Verdict::yes(); },
                               build};
  return builder;
}

}  // namespace ringmaster::schedule
