// SPDX-License-Identifier: Apache-2.0
#include "schedule/butterfly.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "schedule/combinators.hpp"
#include "schedule/programs.hpp"

namespace ringmaster::schedule {
namespace {

Rank wrapped(std::int64_t value, int ranks) { return static_cast<Rank>(((value % ranks) + ranks) % ranks); }

/// Where `rank` stands in the flood of `owner`: all floods are images of rank 0's, moved or turned around.
Rank place_in_flood(Rank rank, Rank owner, int ranks) {
  return wrapped(owner % 2 == 0 ? rank - owner : owner - rank, ranks);
}

/// Visits a rank's remaining steps, its own side first; where[r] = the place of r among those visited.
void walk(const Butterfly& butterfly, Rank rank, int step, std::vector<std::int64_t>& where, std::int64_t& visited) {
  if (step == butterfly.steps()) {
    std::int64_t& place = where[static_cast<std::size_t>(rank)];
    if (place < 0) place = visited++;
    return;
  }
  walk(butterfly, rank, step + 1, where, visited);
  walk(butterfly, butterfly.partner(rank, step), step + 1, where, visited);
}

std::vector<std::int64_t> chunk_places(const Butterfly& butterfly) {
  std::vector<std::int64_t> where(static_cast<std::size_t>(butterfly.ranks), -1);
  std::int64_t visited = 0;
  walk(butterfly, 0, 0, where, visited);
  return where;
}

/// The chunks that `rank` sends in each step.
std::vector<std::vector<std::int64_t>> chunks_sent(Rank rank, const std::vector<int>& step_of,
                                                   const std::vector<std::int64_t>& where, int steps) {
  const auto ranks = static_cast<int>(step_of.size());
  std::vector<std::vector<std::int64_t>> chunks(static_cast<std::size_t>(steps));
  for (Rank owner = 0; owner < ranks; ++owner) {
    if (owner == rank) continue;
    const Rank place = place_in_flood(rank, owner, ranks);
    const int step = step_of[static_cast<std::size_t>(place)];
    chunks[static_cast<std::size_t>(step)].push_back(where[static_cast<std::size_t>(owner)]);
  }
  for (auto& of_step : chunks) std::sort(of_step.begin(), of_step.end());
  return chunks;
}

}  // namespace

Rank Butterfly::partner(Rank rank, int step) const {
  const std::int64_t distance = distances[static_cast<std::size_t>(step)];
  return wrapped(rank % 2 == 0 ? rank + distance : rank - distance, ranks);
}

Lane exchange(const Butterfly& butterfly) {
  Lane lane;
  lane.rounds = butterfly.steps();
  lane.program = [butterfly](Rank rank) {
    Program program(static_cast<std::size_t>(butterfly.steps()));
    for (int step = 0; step < butterfly.steps(); ++step) {
      const Rank peer = butterfly.partner(rank, butterfly.steps() - 1 - step);
      program[static_cast<std::size_t>(step)].transfers = {send(peer, Space::input, {}),
                                                           receive_reduce(peer, Space::input, {})};
    }
    settle(program);
    return program;
  };
  return lane;
}

Tree flood(const Butterfly& butterfly) {
  const auto ranks = static_cast<std::size_t>(butterfly.ranks);
  Tree tree{std::vector<Rank>(ranks, -1), std::vector<int>(ranks, 0)};
  tree.parent[0] = 0;
  std::vector<Rank> reached{0};
  for (int step = butterfly.steps() - 1; step >= 0; --step) {
    const std::size_t before = reached.size();
    for (std::size_t i = 0; i < before; ++i) {
      const Rank fresh = butterfly.partner(reached[i], step);
      if (tree.parent[static_cast<std::size_t>(fresh)] >= 0) continue;
      tree.parent[static_cast<std::size_t>(fresh)] = reached[i];
      tree.round[static_cast<std::size_t>(fresh)] = step;
      reached.push_back(fresh);
    }
  }
  RINGMASTER_ASSERT(reached.size() == ranks, "a butterfly that does not reach every rank");
  return tree;
}

Lane reduce_to_owners(const Butterfly& butterfly) {
  Lane lane;
  lane.chunks = butterfly.ranks;
  lane.rounds = butterfly.steps();
  lane.program = [butterfly, steps_of = flood(butterfly).round, where = chunk_places(butterfly)](Rank rank) {
    Program program(static_cast<std::size_t>(butterfly.steps()));
    const auto mine = chunks_sent(rank, steps_of, where, butterfly.steps());
    for (int step = 0; step < butterfly.steps(); ++step) {
      const auto at = static_cast<std::size_t>(step);
      const Rank peer = butterfly.partner(rank, step);
      const Region out{Space::input, 0, ranges_of(mine[at])};
      const Region in{Space::input, 0, ranges_of(chunks_sent(peer, steps_of, where, butterfly.steps())[at])};
      Region sum = in;
      sum.space = Space::output;
      auto& transfers = program[at].transfers;
      if (!out.ranges.empty()) transfers.push_back({TransferKind::send, peer, out, {}, Wire::plain});
      if (!in.ranges.empty()) transfers.push_back({TransferKind::receive_reduce, peer, in, sum, Wire::plain});
    }
    settle(program);
    return program;
  };
  return lane;
}

}  // namespace ringmaster::schedule
