// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "schedule/combinators.hpp"
#include "schedule/programs.hpp"

namespace ringmaster::schedule {
namespace {

/// A group's reduction, and which chunks each of its owners has.
class Inside {
 public:
  explicit Inside(Reduction reduction)
      : reduction_(std::move(reduction)), chunks_(reduction_.programs.size()), index_(reduction_.owner.size()) {
    for (std::size_t chunk = 0; chunk < reduction_.owner.size(); ++chunk) {
      auto& mine = chunks_[static_cast<std::size_t>(reduction_.owner[chunk])];
      index_[chunk] = static_cast<std::int64_t>(mine.size());
      mine.push_back(static_cast<std::int64_t>(chunk));
    }
    for (std::size_t rank = 0; rank < chunks_.size(); ++rank) {
      if (!chunks_[rank].empty()) owners_.push_back(static_cast<Rank>(rank));
    }
  }

  int ranks() const { return static_cast<int>(chunks_.size()); }
  int rounds() const { return reduction_.rounds; }
  int owners() const { return static_cast<int>(owners_.size()); }
  /// Shards are dealt out to owners in turn.
  Rank owner_of(int shard) const { return owners_[static_cast<std::size_t>(shard % owners())]; }
  /// Pieces that each shard must be cut into.
  std::int64_t pieces() const {
    std::int64_t pieces = 1;
    for (const auto& mine : chunks_) pieces = std::lcm(pieces, std::max<std::int64_t>(1, std::ssize(mine)));
    return pieces;
  }
  /// An owner's i-th chunk is the i-th part of each shard that it owns.
  Program program(Rank rank, int shards, std::int64_t pieces) const {
    Program program = reduction_.programs[static_cast<std::size_t>(rank)];
    map_chunks(program, [&](std::int64_t chunk) {
      const Rank owner = reduction_.owner[static_cast<std::size_t>(chunk)];
      const std::int64_t each = pieces / std::ssize(chunks_[static_cast<std::size_t>(owner)]);
      std::vector<ChunkRange> ranges;
      for (int shard = 0; shard < shards; ++shard) {
        if (owner_of(shard) != owner) continue;
        ranges.push_back({shard * pieces + index_[static_cast<std::size_t>(chunk)] * each, each});
      }
      return ranges;
    });
    return program;
  }

 private:
  Reduction reduction_;
  std::vector<std::vector<std::int64_t>> chunks_;  // by rank
  std::vector<std::int64_t> index_;                // of a chunk among its owner's
  std::vector<Rank> owners_;
};

/// Groups of equal size but for the last, and what runs across them.
class Nest {
 public:
  Nest(int ranks, int group, const MakeReduction& inside, const MakeLane& across)
      : group_(group), groups_((ranks + group - 1) / group), full_(inside(group)), last_(full_) {
    if (ranks % group != 0) last_ = Inside(inside(ranks % group));
    if (groups_ > 1) across_ = across(groups_);
    shards_ = std::max(full_.owners(), last_.owners());
    pieces_ = std::lcm(std::lcm(full_.pieces(), last_.pieces()), across_.chunks);
  }

  std::int64_t chunks() const { return shards_ * pieces_; }
  int rounds() const { return 2 * rounds_inside() + across_.rounds; }

  Program program(Rank rank) const {
    const int group = rank / group_;
    Program there = inside(group).program(rank % group_, shards_, pieces_);
    map_peers(there, members(group));
    there.resize(static_cast<std::size_t>(rounds_inside()));
    Program program = there;
    for (int shard = 0; shard < shards_; ++shard) {
      if (inside(group).owner_of(shard) == rank % group_) overlay(program, across(shard, group), there.size());
    }
    overlay(program, mirrored(there), there.size() + static_cast<std::size_t>(across_.rounds));
    settle(program);
    return program;
  }

 private:
  const Inside& inside(int group) const { return group == groups_ - 1 ? last_ : full_; }
  int rounds_inside() const { return std::max(full_.rounds(), last_.rounds()); }

  std::vector<Rank> members(int group) const {
    std::vector<Rank> ranks(static_cast<std::size_t>(inside(group).ranks()));
    std::iota(ranks.begin(), ranks.end(), group * group_);
    return ranks;
  }

  /// One shard's allreduce, as group `group` takes part in it.
  Program across(int shard, int group) const {
    Program program = across_.program(group);
    std::vector<Rank> owners;
    for (int g = 0; g < groups_; ++g) owners.push_back(g * group_ + inside(g).owner_of(shard));
    map_peers(program, owners);
    const std::int64_t each = pieces_ / across_.chunks;
    map_chunks(program, [&](std::int64_t chunk) {
      return std::vector<ChunkRange>{{shard * pieces_ + chunk * each, each}};
    });
    return program;
  }

  int group_;
  int groups_;
  Inside full_;
  Inside last_;
  Lane across_{1, 0, 0, 1, [](Rank) { return Program{}; }};
  int shards_ = 1;
  std::int64_t pieces_ = 1;
};

}  // namespace

Lane nested(int ranks, int group, const MakeReduction& inside, const MakeLane& across) {
  const auto nest = std::make_shared<const Nest>(ranks, std::min(group, ranks), inside, across);
  Lane lane;
  lane.chunks = nest->chunks();
  lane.rounds = nest->rounds();
  lane.program = [nest](Rank rank) { return nest->program(rank); };
  return lane;
}

}  // namespace ringmaster::schedule
