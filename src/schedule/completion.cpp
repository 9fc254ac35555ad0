// SPDX-License-Identifier: Apache-2.0
#include "schedule/completion.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "base/error.hpp"

namespace ringmaster::schedule {
namespace {

std::int64_t cell_of(std::int64_t chunks, const Region& region, std::int64_t chunk) {
  switch (region.space) {
    case Space::input: return chunk;
    case Space::output: return chunks + chunk;
    case Space::slot: return chunks * (2 + region.slot) + chunk;
  }
  return 0;
}

bool receives(const Transfer& transfer) {
  return transfer.kind == TransferKind::receive || transfer.kind == TransferKind::receive_reduce;
}

bool adds(const Transfer& transfer) {
  return transfer.kind == TransferKind::receive_reduce || transfer.kind == TransferKind::reduce;
}

/// How many ranks' values are in each chunk of each space, for all ranks.
class Counting {
 public:
  struct Sum {
    int ranks = 0;
    bool added = false;
  };
  using Writes = std::map<std::int64_t, Sum>;  // by cell

  Counting(const Lane& lane, int ranks) : lane_(lane) {
    for (Rank rank = 0; rank < ranks; ++rank) {
      programs_.push_back(lane.program(rank));
      counts_.emplace_back(static_cast<std::size_t>(lane.chunks * (2 + lane.slots)), 0);
      std::fill_n(counts_.back().begin(), lane.chunks, 1);
    }
  }

  /// What each rank writes in the round; afterwards it is written.
  std::vector<Writes> run(std::size_t round) {
    send(round);
    std::vector<Writes> writes;
    for (std::size_t rank = 0; rank < programs_.size(); ++rank) writes.push_back(written(rank, round));
    for (std::size_t rank = 0; rank < programs_.size(); ++rank) {
      for (const auto& [cell, sum] : writes[rank]) counts_[rank][static_cast<std::size_t>(cell)] = sum.ranks;
    }
    return writes;
  }

 private:
  using Pair = std::pair<Rank, Rank>;  // source, destination

  std::vector<int> counts_of(std::size_t rank, const Region& region) const {
    std::vector<int> counts;
    for (const std::int64_t chunk : region.chunk_list()) {
      counts.push_back(counts_[rank][static_cast<std::size_t>(cell_of(lane_.chunks, region, chunk))]);
    }
    return counts;
  }

  const std::vector<Transfer>& transfers(std::size_t rank, std::size_t round) const {
    static const std::vector<Transfer> none;
    return round < programs_[rank].size() ? programs_[rank][round].transfers : none;
  }

  void send(std::size_t round) {
    messages_.clear();
    taken_.clear();
    for (std::size_t rank = 0; rank < programs_.size(); ++rank) {
      for (const Transfer& transfer : transfers(rank, round)) {
        if (transfer.kind != TransferKind::send) continue;
        messages_[{static_cast<Rank>(rank), transfer.peer}].push_back(counts_of(rank, transfer.from));
      }
    }
  }

  Writes written(std::size_t rank, std::size_t round) {
    Writes writes;
    for (const Transfer& transfer : transfers(rank, round)) {
      if (transfer.kind == TransferKind::send) continue;
      const Pair pair{transfer.peer, static_cast<Rank>(rank)};
      const std::vector<int> others =
          receives(transfer) ? messages_.at(pair).at(taken_[pair]++) : counts_of(rank, transfer.from);
      const Region& operand = transfer.kind == TransferKind::reduce ? transfer.to : transfer.from;
      const std::vector<int> own = adds(transfer) ? counts_of(rank, operand) : std::vector<int>{};
      const std::vector<std::int64_t> targets = transfer.to.chunk_list();
      for (std::size_t i = 0; i < targets.size(); ++i) {
        Sum& sum = writes[cell_of(lane_.chunks, transfer.to, targets[i])];
        if (adds(transfer) && sum.ranks == 0) sum.ranks = own[i];
        sum.ranks += others[i];
        sum.added = sum.added || adds(transfer);
      }
    }
    return writes;
  }

  const Lane& lane_;
  std::vector<Program> programs_;
  std::vector<std::vector<int>> counts_;  // [rank][cell]
  std::map<Pair, std::vector<std::vector<int>>> messages_;
  std::map<Pair, std::size_t> taken_;
};

}  // namespace

Completion::Completion(const Lane& lane, int ranks, Rank rank) : chunks_(lane.chunks) {
  Counting counting(lane, ranks);
  for (int round = 0; round < lane.rounds; ++round) {
    const auto writes = counting.run(static_cast<std::size_t>(round));
    for (const auto& [cell, sum] : writes[static_cast<std::size_t>(rank)]) {
      RINGMASTER_ASSERT(sum.ranks <= ranks, "a sum holds a rank twice");
      if (sum.added && sum.ranks == ranks) complete_.emplace(round, cell);
    }
  }
}

bool Completion::operator()(int round, const Region& to, std::int64_t chunk) const {
  return complete_.count({round, cell_of(chunks_, to, chunk)}) > 0;
}

}  // namespace ringmaster::schedule
