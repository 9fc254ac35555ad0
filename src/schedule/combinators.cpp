// SPDX-License-Identifier: Apache-2.0
#include "schedule/combinators.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "schedule/programs.hpp"

namespace ringmaster::schedule {
namespace {

Region region(Space space, ChunkRange chunks) { return {space, 0, {chunks}}; }

/// The pairs of a fold: ranks 0 and 1, 2 and 3, ... of the first 2 * pairs.
struct Pairing {
  int pairs = 0;
  HandsOver who = HandsOver::even;

  bool paired(Rank rank) const { return rank < 2 * pairs; }
  bool hands_over(Rank rank) const { return paired(rank) && (rank % 2 == 0) == (who == HandsOver::even); }
  Rank partner(Rank rank) const { return rank ^ 1; }
  Rank place(Rank rank) const { return paired(rank) ? rank / 2 : rank - pairs; }
  Rank player(Rank place) const {
    if (place >= pairs) return place + pairs;
    return 2 * place + (who == HandsOver::even ? 1 : 0);
  }
};

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
  lane.program = [a = std::move(first.program), b = std::move(second.program), rounds = first.rounds](Rank rank) {
    Program program = a(rank);
    overlay(program, b(rank), static_cast<std::size_t>(rounds));
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

Lane merged(const Schedule& schedule) {
  if (schedule.lanes.size() == 1) return schedule.lanes.front();
  std::int64_t common = 1;  // chunks that each unit of weight is cut into
  for (const Lane& lane : schedule.lanes) common = std::lcm(common, lane.chunks);
  Lane whole;
  whole.chunks = 0;
  std::vector<ChunkMap> maps;
  for (const Lane& lane : schedule.lanes) {
    RINGMASTER_ASSERT(lane.slots == 0, "lanes with slots cannot be merged");
    const std::int64_t each = lane.weight * common / lane.chunks;
    maps.emplace_back([first = whole.chunks, each](std::int64_t chunk) {
      return std::vector<ChunkRange>{{first + chunk * each, each}};
    });
    whole.chunks += lane.weight * common;
    whole.rounds = std::max(whole.rounds, lane.rounds);
  }
  whole.program = [lanes = schedule.lanes, maps = std::move(maps)](Rank rank) {
    Program program;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      Program part = lanes[i].program(rank);
      map_chunks(part, maps[i]);
      overlay(program, part, 0);
    }
    return program;
  };
  return whole;
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

Lane there_and_back(Lane reduction) {
  Lane lane = reduction;
  lane.rounds = 2 * reduction.rounds;
  lane.program = [there = std::move(reduction)](Rank rank) {
    Program program = there.program(rank);
    program.resize(static_cast<std::size_t>(there.rounds));
    overlay(program, mirrored(program), program.size());
    return program;
  };
  return lane;
}

Lane fold(int ranks, int core, const MakeLane& make, HandsOver who) {
  RINGMASTER_ASSERT(core <= ranks && ranks - core <= core, "a fold to less than half of the ranks");
  if (core == ranks) return make(core);
  const Pairing pairing{ranks - core, who};
  Lane inner = make(core);
  std::vector<Rank> players;
  for (Rank place = 0; place < core; ++place) players.push_back(pairing.player(place));
  const ChunkRange all{0, inner.chunks};
  Lane lane = inner;
  lane.rounds = inner.rounds + 2;
  lane.place.clear();
  lane.program = [inner = std::move(inner), players = std::move(players), pairing, all](Rank rank) {
    Program program(static_cast<std::size_t>(inner.rounds) + 2);
    const Rank partner = pairing.partner(rank);
    if (pairing.hands_over(rank)) {
      program.front().transfers = {send(partner, Space::input, all)};
      program.back().transfers = {receive(partner, all)};
      return program;
    }
    Program middle = inner.program(pairing.place(rank));
    map_peers(middle, players);
    overlay(program, middle, 1);
    if (pairing.paired(rank)) {
      program.front().transfers = {receive_reduce(partner, Space::input, all)};
      program.back().transfers = {send(partner, Space::output, all)};
      settle(program);
    }
    return program;
  };
  return lane;
}

std::vector<Lane> fold_halves(int ranks, int core, const MakeLane& make) {
  if (core == ranks) return {make(core)};
  return {fold(ranks, core, make, HandsOver::even), fold(ranks, core, make, HandsOver::odd)};
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
