// SPDX-License-Identifier: Apache-2.0
// Butterflies of alternating direction: in a step all even ranks reach out to one side and all odd ranks to the other,
// as far; so distances are odd and stay short on a ring or torus. Swing and bine are made from them.
// Values; pure functions; thread safe.
#pragma once

#include <vector>

#include "schedule/reduction.hpp"
#include "schedule/schedule.hpp"

namespace ringmaster::schedule {

/// An even rank r exchanges with r + distances[step], an odd one with r - distances[step], modulo ranks (even).
struct Butterfly {
  int ranks = 2;
  std::vector<std::int64_t> distances;

  int steps() const { return static_cast<int>(distances.size()); }
  Rank partner(Rank rank, int step) const;
};

/// Whole vectors in every step: an allreduce where 2^steps = ranks. It begins with the last step: then ranks that hold
/// the same contributions have added them in the same order, which they have not from the first step on.
Lane exchange(const Butterfly& butterfly);

/// The tree by which everything reaches rank 0: backwards from the last step, each rank that is reached for the first
/// time joins. It needs no power of two: who would be reached twice is left out the second time.
Tree flood(const Butterfly& butterfly);

/// A reduction in which each rank owns one chunk: along every chunk's own flood, all of them in the same steps.
/// Chunks lie in the order of a walk through the butterfly, so that a step's chunks are neighbours.
Lane reduce_to_owners(const Butterfly& butterfly);

}  // namespace ringmaster::schedule
