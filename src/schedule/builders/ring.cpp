// SPDX-License-Identifier: Apache-2.0
// Ring: p - 1 steps of reduce-scatter and p - 1 of all-gather between neighbours; every rank sends 2 (p - 1) / p of
// the vector, the least possible, in 2 (p - 1) messages. (Patarasuk and Yuan 2009.)
#include "schedule/builders.hpp"
#include "schedule/combinators.hpp"

namespace ringmaster::schedule {
namespace {

std::int64_t modulo(int value, int ranks) { return ((value % ranks) + ranks) % ranks; }

// Chunk r is complete on rank r after p - 1 steps: in step s rank r sends chunk r - s - 1 on and adds to r - s - 2.
Program reduce_scatter(Rank rank, int ranks) {
  const Rank next = (rank + 1) % ranks;
  const Rank previous = (rank + ranks - 1) % ranks;
  Program program;
  for (int s = 0; s < ranks - 1; ++s) {
    const Space source = s == 0 ? Space::input : Space::output;
    Round round;
    round.transfers = {send(next, source, {modulo(rank - s - 1, ranks), 1}),
                       receive_reduce(previous, Space::input, {modulo(rank - s - 2, ranks), 1})};
    program.push_back(std::move(round));
  }
  return program;
}

Program all_gather(Rank rank, int ranks) {
  const Rank next = (rank + 1) % ranks;
  const Rank previous = (rank + ranks - 1) % ranks;
  Program program;
  for (int s = 0; s < ranks - 1; ++s) {
    Round round;
    round.transfers = {send(next, Space::output, {modulo(rank - s, ranks), 1}),
                       receive(previous, {modulo(rank - s - 1, ranks), 1})};
    program.push_back(std::move(round));
  }
  return program;
}

Lane half(int ranks, Program (*program)(Rank, int)) {
  Lane lane;
  lane.chunks = ranks;
  lane.rounds = ranks - 1;
  lane.program = [ranks, program](Rank rank) { return program(rank, ranks); };
  return lane;
}

Schedule build(const BuildContext& context) {
  const int ranks = context.ranks;
  if (ranks == 1) return side_by_side("ring", 1, {alone()});
  const Lane lane = sequence(half(ranks, reduce_scatter), half(ranks, all_gather));
  return side_by_side("ring", ranks, {relabel(lane, context.order)});
}

}  // namespace

const Builder& ring_builder() {
  static const Builder builder{"ring",
                               "neighbours pass chunks around; least bytes, 2(p-1) steps",
                               {},
                               [](const BuildContext&) { return Verdict::yes(); },
                               build};
  return builder;
}

}  // namespace ringmaster::schedule
