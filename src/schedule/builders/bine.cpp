// SPDX-License-Identifier: Apache-2.0
// Bine: binomial trees and butterflies over negabinary distances, the sums of the first powers of -2, so that more of
// the messages stay among near ranks than with powers of two. tree: reduction to the first rank and broadcast, whole
// vectors. butterfly: reduce-scatter and all-gather; it is the same as swing's. (De Sensi et al. 2025, *Bine trees:
// enhancing collective operations by optimizing communication locality*.) Odd rank counts are folded.
#include <array>

#include "schedule/builders.hpp"
#include "schedule/butterfly.hpp"
#include "schedule/combinators.hpp"

namespace ringmaster::schedule {
namespace {

/// In step s a message goes as far as the negabinary number of s + 1 ones.
Butterfly negabinary(int ranks) {
  Butterfly butterfly{ranks, {}};
  std::int64_t ones = 0;
  std::int64_t digit = 1;
  for (int reach = 1; reach < ranks; reach *= 2) {
    ones += digit;
    digit *= -2;
    butterfly.distances.push_back(ones);
  }
  return butterfly;
}

Lane tree(int ranks) { return there_and_back(reduce_along(flood(negabinary(ranks)))); }
Lane butterfly(int ranks) { return there_and_back(reduce_to_owners(negabinary(ranks))); }

Schedule build(const BuildContext& context) {
  const int ranks = context.ranks;
  if (ranks == 1) return side_by_side("bine", 1, {alone()});
  const int even = ranks / 2 * 2;
  std::vector<Lane> lanes;
  if (context.parameters.text("form") == "tree") {
    lanes = {fold(ranks, even, tree)};
  } else {
    lanes = fold_halves(ranks, even, butterfly);
  }
  for (Lane& lane : lanes) lane = relabel(lane, context.order);
  return side_by_side("bine", ranks, std::move(lanes));
}

const std::array<ParameterSpec, 1> specs{{{"form",
                                           ParameterType::text,
                                           "",
                                           "tree",
                                           0,
                                           0,
                                           "whole vectors to one rank and back, or chunks to all",
                                           {"tree", "butterfly"}}}};

}  // namespace

const Builder& bine_builder() {
  static const Builder builder{"bine", "binomial tree or butterfly over negabinary distances; 2 log2(p) steps", specs,
                               [](const BuildContext&) { return Verdict::yes(); }, build};
  return builder;
}

}  // namespace ringmaster::schedule
