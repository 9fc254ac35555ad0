// SPDX-License-Identifier: Apache-2.0
#include "schedule/reduction.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "schedule/combinators.hpp"
#include "schedule/programs.hpp"

namespace ringmaster::schedule {
namespace {

std::vector<Program> programs_of(const Lane& lane, int ranks) {
  std::vector<Program> programs;
  for (Rank rank = 0; rank < ranks; ++rank) {
    programs.push_back(lane.program(rank));
    programs.back().resize(static_cast<std::size_t>(lane.rounds));
  }
  return programs;
}

/// In an allreduce a chunk is complete on a rank when the rank writes it for the last time.
std::vector<int> last_written(const Program& program, std::int64_t chunks) {
  std::vector<int> last(static_cast<std::size_t>(chunks), 0);
  for (std::size_t round = 0; round < program.size(); ++round) {
    for (const Transfer& transfer : program[round].transfers) {
      if (transfer.kind == TransferKind::send) continue;
      for (const std::int64_t chunk : transfer.to.chunk_list()) {
        last[static_cast<std::size_t>(chunk)] = static_cast<int>(round);
      }
    }
  }
  return last;
}

std::vector<Rank> first_complete(const std::vector<Program>& programs, std::int64_t chunks) {
  std::vector<std::vector<int>> last;
  for (const Program& program : programs) last.push_back(last_written(program, chunks));
  std::vector<int> owned(programs.size(), 0);
  std::vector<Rank> owner;
  for (std::size_t chunk = 0; chunk < static_cast<std::size_t>(chunks); ++chunk) {
    std::size_t best = 0;
    for (std::size_t rank = 1; rank < programs.size(); ++rank) {
      if (std::pair(last[rank][chunk], owned[rank]) < std::pair(last[best][chunk], owned[best])) best = rank;
    }
    ++owned[best];
    owner.push_back(static_cast<Rank>(best));
  }
  return owner;
}

/// Walks backwards and keeps the transfers that a wanted chunk depends on.
class Pruning {
 public:
  Pruning(std::vector<Program> programs, const std::vector<Rank>& owner)
      : programs_(std::move(programs)), wanted_(programs_.size(), std::vector<bool>(owner.size())) {
    for (std::size_t chunk = 0; chunk < owner.size(); ++chunk) {
      wanted_[static_cast<std::size_t>(owner[chunk])][chunk] = true;
    }
  }

  std::vector<Program> run() {
    for (std::size_t round = programs_.front().size(); round-- > 0;) prune(round);
    return std::move(programs_);
  }

 private:
  using Keep = std::vector<bool>;
  using Pair = std::pair<Rank, Rank>;  // source, destination

  static void filter(Region& region, const Keep& keep) {
    std::vector<std::int64_t> kept;
    const std::vector<std::int64_t> chunks = region.chunk_list();
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (keep[i]) kept.push_back(chunks[i]);
    }
    region.ranges = ranges_of(kept);
  }

  /// What of a transfer's target is wanted after its round.
  Keep wanted_of(Rank rank, const Transfer& transfer) const {
    Keep keep;
    for (const std::int64_t chunk : transfer.to.chunk_list()) {
      keep.push_back(wanted_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(chunk)]);
    }
    return keep;
  }

  void prune(std::size_t round) {
    std::map<Pair, std::vector<Keep>> messages;
    for (std::size_t rank = 0; rank < programs_.size(); ++rank) {
      prune_writes(static_cast<Rank>(rank), programs_[rank][round].transfers, messages);
    }
    for (std::size_t rank = 0; rank < programs_.size(); ++rank) {
      prune_sends(static_cast<Rank>(rank), programs_[rank][round].transfers, messages);
      update(wanted_[rank], programs_[rank][round].transfers);
    }
  }

  void prune_writes(Rank rank, std::vector<Transfer>& transfers, std::map<Pair, std::vector<Keep>>& messages) {
    for (Transfer& transfer : transfers) {
      if (transfer.kind == TransferKind::send) continue;
      RINGMASTER_ASSERT(transfer.to.space == Space::output && transfer.kind != TransferKind::reduce,
                        "an allreduce with slots cannot be cut down");
      const Keep keep = wanted_of(rank, transfer);
      if (transfer.kind != TransferKind::copy) messages[{transfer.peer, rank}].push_back(keep);
      if (transfer.kind != TransferKind::receive) filter(transfer.from, keep);
      filter(transfer.to, keep);
    }
  }

  static void prune_sends(Rank rank, std::vector<Transfer>& transfers, std::map<Pair, std::vector<Keep>>& messages) {
    std::map<Rank, std::size_t> ordinal;
    for (Transfer& transfer : transfers) {
      if (transfer.kind != TransferKind::send) continue;
      filter(transfer.from, messages[{rank, transfer.peer}].at(ordinal[transfer.peer]++));
    }
    std::erase_if(transfers, [](const Transfer& t) { return t.from.ranges.empty() && t.to.ranges.empty(); });
  }

  /// From wanted after the round to wanted before it.
  static void update(std::vector<bool>& wanted, const std::vector<Transfer>& transfers) {
    const auto mark = [&](const Region& region, bool value) {
      if (region.space != Space::output) return;
      for (const std::int64_t chunk : region.chunk_list()) wanted[static_cast<std::size_t>(chunk)] = value;
    };
    for (const Transfer& transfer : transfers) {
      if (transfer.kind != TransferKind::send) mark(transfer.to, false);
    }
    for (const Transfer& transfer : transfers) {
      if (transfer.kind != TransferKind::receive) mark(transfer.from, true);
    }
  }

  std::vector<Program> programs_;
  std::vector<std::vector<bool>> wanted_;  // [rank][chunk of the output]
};

Reduction cut_down(std::vector<Program> programs, std::vector<Rank> owner) {
  Reduction reduction;
  reduction.chunks = static_cast<std::int64_t>(owner.size());
  reduction.programs = Pruning(std::move(programs), owner).run();
  reduction.owner = std::move(owner);
  for (const Program& program : reduction.programs) {
    for (std::size_t round = 0; round < program.size(); ++round) {
      if (!program[round].transfers.empty()) reduction.rounds = std::max(reduction.rounds, static_cast<int>(round) + 1);
    }
  }
  for (Program& program : reduction.programs) program.resize(static_cast<std::size_t>(reduction.rounds));
  return reduction;
}

/// One rank has its sum already, in the input.
Reduction nothing_to_do() { return {1, 0, {Program{}}, {0}}; }

}  // namespace

Reduction reduction_to_shards(const Lane& allreduce, int ranks) {
  if (ranks == 1) return nothing_to_do();
  std::vector<Program> programs = programs_of(allreduce, ranks);
  std::vector<Rank> owner = first_complete(programs, allreduce.chunks);
  return cut_down(std::move(programs), std::move(owner));
}

Reduction reduction_to_first(const Lane& allreduce, int ranks) {
  if (ranks == 1) return nothing_to_do();
  return cut_down(programs_of(allreduce, ranks), std::vector<Rank>(static_cast<std::size_t>(allreduce.chunks), 0));
}

Tree earliest(std::vector<Rank> parent) {
  std::vector<int> round(parent.size(), 0);
  for (std::size_t leaf = 0; leaf < parent.size(); ++leaf) {
    int height = 0;
    for (auto rank = static_cast<Rank>(leaf); parent[static_cast<std::size_t>(rank)] != rank;) {
      rank = parent[static_cast<std::size_t>(rank)];
      int& known = round[static_cast<std::size_t>(rank)];
      if (known > height) break;  // another leaf has been here from further below
      known = ++height;
    }
  }
  return {std::move(parent), std::move(round)};
}

Lane reduce_along(Tree tree) {
  Lane lane;
  for (std::size_t rank = 0; rank < tree.parent.size(); ++rank) {
    if (tree.parent[rank] != static_cast<Rank>(rank)) lane.rounds = std::max(lane.rounds, tree.round[rank] + 1);
  }
  lane.program = [tree = std::move(tree), rounds = lane.rounds](Rank rank) {
    Program program(static_cast<std::size_t>(rounds));
    const auto in_round = [&](Rank sender) -> std::vector<Transfer>& {
      return program[static_cast<std::size_t>(tree.round[static_cast<std::size_t>(sender)])].transfers;
    };
    for (std::size_t i = 0; i < tree.parent.size(); ++i) {
      const auto child = static_cast<Rank>(i);
      if (tree.parent[i] == rank && child != rank) in_round(child).push_back(receive_reduce(child, Space::input, {}));
    }
    const Rank parent = tree.parent[static_cast<std::size_t>(rank)];
    if (parent != rank) in_round(rank).push_back(send(parent, Space::input, {}));
    settle(program);
    return program;
  };
  return lane;
}

}  // namespace ringmaster::schedule
