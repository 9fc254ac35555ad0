// SPDX-License-Identifier: Apache-2.0
#include "schedule/combinators.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "base/error.hpp"

namespace ringmaster::schedule {
namespace {

Region region(Space space, ChunkRange chunks) { return {space, 0, {chunks}}; }

void map_peers(Program& program, const std::vector<Rank>& order) {
  for (Round& round : program) {
    for (Transfer& transfer : round.transfers) {
      if (transfer.kind != TransferKind::copy) transfer.peer = order[static_cast<std::size_t>(transfer.peer)];
    }
  }
}

/// A rank that has added a neighbour's vector finds its own operand in the output.
void read_output(Program& program) {
  for (Round& round : program) {
    for (Transfer& transfer : round.transfers) {
      if (transfer.from.space == Space::input) transfer.from.space = Space::output;
    }
  }
}

}  // namespace

Transfer send(Rank peer, Space from, ChunkRange chunks) {
  return {TransferKind::send, peer, region(from, chunks), {}, Wire::plain};
}

Transfer receive(Rank peer, ChunkRange chunks) {
  return {TransferKind::receive, peer, {}, region(Space::output, chunks), Wire::plain};
}

Transfer receive_reduce(Rank peer, Space operand, ChunkRange chunks) {
  return {TransferKind::receive_reduce, peer, region(operand, chunks), region(Space::output, chunks), Wire::plain};
}

Lane sequence(Lane first, Lane second) {
  RINGMASTER_ASSERT(first.chunks == second.chunks, "a sequence of lanes over different chunks");
  Lane lane = first;
  lane.rounds = first.rounds + second.rounds;
  lane.slots = std::max(first.slots, second.slots);
  lane.program = [a = std::move(first.program), b = std::move(second.program)](Rank rank) {
    Program program = a(rank);
    Program rest = b(rank);
    program.insert(program.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
    return program;
  };
  return lane;
}

Schedule side_by_side(std::string name, int ranks, std::vector<Lane> lanes) {
  Schedule schedule;
  schedule.name = std::move(name);
  schedule.ranks = ranks;
  schedule.lanes = std::move(lanes);
  return schedule;
}

Lane relabel(Lane lane, std::vector<Rank> order) {
  if (order.empty()) return lane;
  std::vector<Rank> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[static_cast<std::size_t>(order[i])] = static_cast<Rank>(i);
  Lane relabelled = lane;
  relabelled.place = place;
  if (!lane.place.empty()) {
    for (Rank& p : relabelled.place) p = lane.place[static_cast<std::size_t>(p)];
  }
  relabelled.program = [inner = std::move(lane.program), order = std::move(order),
                        place = std::move(place)](Rank rank) {
    Program program = inner(place[static_cast<std::size_t>(rank)]);
    map_peers(program, order);
    return program;
  };
  return relabelled;
}

Lane fold(int ranks, const std::function<Lane(int)>& make) {
  const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
  const int extra = ranks - core;
  Lane inner = make(core);
  if (extra == 0) return inner;
  std::vector<Rank> members;  // rank that plays each core rank: the odd one of a pair, then the rest
  for (int i = 0; i < core; ++i) members.push_back(i < extra ? 2 * i + 1 : i + extra);
  const ChunkRange all{0, inner.chunks};
  Lane lane = inner;
  lane.rounds = inner.rounds + 2;
  lane.program = [inner = std::move(inner), members = std::move(members), extra, all](Rank rank) {
    Program program(static_cast<std::size_t>(inner.rounds) + 2);
    const bool paired = rank < 2 * extra;
    if (paired && rank % 2 == 0) {
      program.front().transfers = {send(rank + 1, Space::input, all)};
      program.back().transfers = {receive(rank + 1, all)};
      return program;
    }
    Program middle = inner.program(paired ? rank / 2 : rank - extra);
    map_peers(middle, members);
    if (paired) {
      read_output(middle);
      program.front().transfers = {receive_reduce(rank - 1, Space::input, all)};
      program.back().transfers = {send(rank - 1, Space::output, all)};
    }
    std::move(middle.begin(), middle.end(), program.begin() + 1);
    return program;
  };
  return lane;
}

Lane alone() {
  Lane lane;
  lane.rounds = 1;
  lane.program = [](Rank) {
    Round round;
    round.transfers = {{TransferKind::copy, 0, region(Space::input, {}), region(Space::output, {}), Wire::plain}};
    return Program{round};
  };
  return lane;
}

}  // namespace ringmaster::schedule
