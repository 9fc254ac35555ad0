// SPDX-License-Identifier: Apache-2.0
// Rabenseifner: reduce-scatter by recursive halving, all-gather by recursive doubling. 2 log2 p steps and the least
// bytes for powers of two; other rank counts are folded, each half of the vector another way round. (Thakur,
// Rabenseifner, Gropp 2005, section 4.5.)
#include <bit>

#include "schedule/builders.hpp"
#include "schedule/combinators.hpp"

namespace ringmaster::schedule {
namespace {

/// The `size` chunks, aligned to their number, that hold chunk `rank`.
ChunkRange window(Rank rank, int size) { return {rank / size * size, size}; }

Program halving(Rank rank, int ranks) {
  Program program;
  for (int distance = ranks / 2; distance >= 1; distance /= 2) {
    const Rank peer = rank ^ distance;
    const Space own = distance == ranks / 2 ? Space::input : Space::output;
    Round round;
    round.transfers = {send(peer, own, window(peer, distance)), receive_reduce(peer, own, window(rank, distance))};
    program.push_back(std::move(round));
  }
  return program;
}

/// The way back of recursive halving is recursive doubling.
Lane lane_for(int ranks) {
  Lane lane;
  lane.chunks = ranks;
  for (int distance = 1; distance < ranks; distance *= 2) ++lane.rounds;
  lane.program = [ranks](Rank rank) { return halving(rank, ranks); };
  return there_and_back(lane);
}

Schedule build(const BuildContext& context) {
  if (context.ranks == 1) return side_by_side("rabenseifner", 1, {alone()});
  const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(context.ranks)));
  std::vector<Lane> lanes = fold_halves(context.ranks, core, lane_for);
  for (Lane& lane : lanes) lane = relabel(lane, context.order);
  return side_by_side("rabenseifner", context.ranks, std::move(lanes));
}

}  // namespace

const Builder& rabenseifner_builder() {
  static const Builder builder{"rabenseifner",
                               "recursive halving, then doubling; 2 log2(p) steps, least bytes",
                               {},
                               [](const BuildContext&) { return Verdict::yes(); },
                               build};
  return builder;
}

}  // namespace ringmaster::schedule
