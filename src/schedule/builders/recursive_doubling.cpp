// SPDX-License-Identifier: Apache-2.0
// Recursive doubling: ranks at distance 1, 2, 4, ... exchange whole vectors and add. log2 p steps, log2 p vectors
// sent: best for short vectors. Other rank counts are folded. (Thakur, Rabenseifner, Gropp 2005, section 4.5.)
#include <bit>

#include "schedule/builders.hpp"
#include "schedule/combinators.hpp"

namespace ringmaster::schedule {
namespace {

Lane exchange(int ranks) {
  Lane lane;
  for (int distance = 1; distance < ranks; distance *= 2) ++lane.rounds;
  lane.program = [ranks](Rank rank) {
    Program program;
    for (int distance = 1; distance < ranks; distance *= 2) {
      const Rank peer = rank ^ distance;
      const Space own = distance == 1 ? Space::input : Space::output;
      Round round;
      round.transfers = {send(peer, own, {}), receive_reduce(peer, own, {})};
      program.push_back(std::move(round));
    }
    return program;
  };
  return lane;
}

Schedule build(const BuildContext& context) {
  const std::string name = "recursive-doubling";
  if (context.ranks == 1) return side_by_side(name, 1, {alone()});
  const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(context.ranks)));
  return side_by_side(name, context.ranks, {relabel(fold(context.ranks, core, exchange), context.order)});
}

}  // namespace

const Builder& recursive_doubling_builder() {
  static const Builder builder{"recursive-doubling",
                               "whole vectors at doubling distance; log2(p) steps",
                               {},
                               [](const BuildContext&) { return Verdict::yes(); },
                               build};
  return builder;
}

}  // namespace ringmaster::schedule
