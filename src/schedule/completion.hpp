// SPDX-License-Identifier: Apache-2.0
// Where the last contribution to a sum is added: there, and only there, an average is divided. Found by counting the
// ranks whose values are in each chunk, round by round.
// Values; thread safe once made.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "schedule/schedule.hpp"

namespace ringmaster::schedule {

class Completion {
 public:
  /// No sum completes anything: for reductions to which it makes no difference.
  Completion() = default;
  /// The sums of `rank`. The schedule must be one that the verifier proves. Runs the programs of all ranks.
  Completion(const Lane& lane, int ranks, Rank rank);

  /// Whether what `rank` adds to this chunk of the output or of a slot in `round` makes it the sum of all ranks.
  bool operator()(int round, const Region& to, std::int64_t chunk) const;

 private:
  std::int64_t chunks_ = 1;
  std::set<std::pair<int, std::int64_t>> complete_;  // round, cell
};

}  // namespace ringmaster::schedule
