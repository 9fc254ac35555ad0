// SPDX-License-Identifier: Apache-2.0
// Reductions: every chunk ends complete on one rank, its owner. They are cut out of an allreduce (what its other
// results need is left out), or follow a tree. With their way back they are allreduces again.
// Values; pure functions; thread safe.
#pragma once

#include <vector>

#include "schedule/schedule.hpp"

namespace ringmaster::schedule {

/// The programs of a whole group.
struct Reduction {
  std::int64_t chunks = 1;
  int rounds = 0;
  std::vector<Program> programs;  // by rank
  std::vector<Rank> owner;        // by chunk
};

/// What of an allreduce is needed for each chunk to be complete on the rank that has it first. Chunks that several
/// ranks have first are dealt out evenly.
Reduction reduction_to_shards(const Lane& allreduce, int ranks);

/// What of an allreduce is needed for all chunks to be complete on rank 0.
Reduction reduction_to_first(const Lane& allreduce, int ranks);

/// Rank r adds what its children send, then sends to parent[r] in round[r]. The root is its own parent.
struct Tree {
  std::vector<Rank> parent;
  std::vector<int> round;
};

/// The tree with the earliest rounds: each rank sends as soon as its children have.
Tree earliest(std::vector<Rank> parent);

/// Whole vectors along a tree to its root.
Lane reduce_along(Tree tree);

}  // namespace ringmaster::schedule
