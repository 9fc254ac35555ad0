// SPDX-License-Identifier: Apache-2.0
// Tree: binomial reduction to the first rank, then binomial broadcast. 2 ceil(log2 p) steps; whole vectors, so the
// root receives and sends ceil(log2 p) of them: for short vectors, and pipelined by segments for long ones.
// (Thakur, Rabenseifner, Gropp 2005, sections 4.1 and 4.4.)
#include "schedule/builders.hpp"
#include "schedule/combinators.hpp"

namespace ringmaster::schedule {
namespace {

int steps_for(int ranks) {
  int steps = 0;
  while ((1 << steps) < ranks) ++steps;
  return steps;
}

Program reduce_to_first(Rank rank, int ranks) {
  Program program(static_cast<std::size_t>(steps_for(ranks)));
  Space own = Space::input;
  for (int step = 0; step < steps_for(ranks); ++step) {
    const int distance = 1 << step;
    auto& transfers = program[static_cast<std::size_t>(step)].transfers;
    if ((rank & distance) != 0) {
      transfers = {send(rank - distance, own, {})};
      break;
    }
    if (rank + distance >= ranks) continue;
    transfers = {receive_reduce(rank + distance, own, {})};
    own = Space::output;
  }
  return program;
}

Lane reduction(int ranks) {
  Lane lane;
  lane.rounds = steps_for(ranks);
  lane.program = [ranks](Rank rank) { return reduce_to_first(rank, ranks); };
  return lane;
}

Schedule build(const BuildContext& context) {
  const int ranks = context.ranks;
  if (ranks == 1) return side_by_side("tree", 1, {alone()});
  return side_by_side("tree", ranks, {relabel(there_and_back(reduction(ranks)), context.order)});
}

}  // namespace

const Builder& tree_builder() {
  static const Builder builder{"tree",
                               "binomial reduction and broadcast; 2 log2(p) steps, whole vectors",
                               {},
                               [](const BuildContext&) { return Verdict::yes(); },
                               build};
  return builder;
}

}  // namespace ringmaster::schedule
