// SPDX-License-Identifier: Apache-2.0
// Recursive multiplying: recursive doubling with groups of up to `radix` ranks that exchange whole vectors at once.
// log_radix p rounds of radix - 1 messages: for short vectors where a rank can send several at a time. Any rank count
// that is a product of small factors is taken as it is, others are folded to the next one below. (Ruefenacht, Bull and
// Booth 2017, *Generalisation of recursive doubling for AllReduce*.)
#include <array>

#include "schedule/builders.hpp"
#include "schedule/combinators.hpp"
#include "schedule/programs.hpp"

namespace ringmaster::schedule {
namespace {

/// `ranks` as a product of factors up to `radix`, the largest first; empty if there is none (or for 1).
std::vector<int> factors_of(int ranks, int radix) {
  std::vector<int> factors;
  while (ranks > 1) {
    int factor = std::min(radix, ranks);
    while (factor > 1 && ranks % factor != 0) --factor;
    if (factor == 1) return {};
    factors.push_back(factor);
    ranks /= factor;
  }
  return factors;
}

/// Members of a group stand `stride` apart. Sums run in rank order, so all members get the same bits.
Round exchange_in_group(Rank rank, int factor, int stride) {
  const int own = rank / stride % factor;
  Round round;
  for (int i = 1; i < factor; ++i) {
    const Rank peer = rank + ((own + i) % factor - own) * stride;
    round.transfers.push_back(send(peer, Space::input, {}));
  }
  for (int i = 1; i < factor; ++i) {
    const Rank peer = rank + ((own + i) % factor - own) * stride;
    round.transfers.push_back(receive_reduce(peer, Space::input, {}));
  }
  return round;
}

Lane lane_for(int ranks, int radix) {
  Lane lane;
  const std::vector<int> factors = factors_of(ranks, radix);
  lane.rounds = static_cast<int>(factors.size());
  lane.program = [factors](Rank rank) {
    Program program;
    int stride = 1;
    for (const int factor : factors) {
      program.push_back(exchange_in_group(rank, factor, stride));
      stride *= factor;
    }
    settle(program);
    return program;
  };
  return lane;
}

Schedule build(const BuildContext& context) {
  const int ranks = context.ranks;
  if (ranks == 1) return side_by_side("recursive-multiplying", 1, {alone()});
  const auto radix = static_cast<int>(context.parameters.integer("radix"));
  int core = ranks;
  while (factors_of(core, radix).empty()) --core;  // a power of two at the latest: more than half of the ranks
  const Lane lane = fold(ranks, core, [radix](int p) { return lane_for(p, radix); });
  return side_by_side("recursive-multiplying", ranks, {relabel(lane, context.order)});
}

const std::array<ParameterSpec, 1> specs{
    {{"radix", ParameterType::integer, "ranks", "4", 2, 64, "ranks that exchange vectors in one round"}}};

}  // namespace

const Builder& recursive_multiplying_builder() {
  static const Builder builder{"recursive-multiplying",
                               "whole vectors within groups of radix ranks; log_radix(p) steps", specs,
                               [](const BuildContext&) { return Verdict::yes(); }, build};
  return builder;
}

}  // namespace ringmaster::schedule
