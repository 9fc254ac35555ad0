// SPDX-License-Identifier: Apache-2.0
// Multi-ring: several rings side by side, each over its slice of the vector and, while there are enough, over links
// that no other ring uses. The complete graph of p ranks falls into (p - 1) / 2 Hamiltonian cycles without a common
// edge (Walecki, in Lucas 1892; Alspach 2008, *The wonderful Walecki construction*); for even p a matching is left
// over. Further lanes go round the same cycles the other way. The first lane is the given order.
#include <algorithm>
#include <array>

#include "schedule/builders.hpp"
#include "schedule/combinators.hpp"

namespace ringmaster::schedule {
namespace {

/// Zigzag through 0..p-2 from `start`: start, start + 1, start - 1, start + 2, ...; the last rank closes the cycle.
std::vector<Rank> zigzag(int ranks, int start) {
  const int modulus = ranks - 1;
  std::vector<Rank> cycle;
  for (int i = 0; i < modulus; ++i) {
    const int offset = i % 2 == 1 ? (i + 1) / 2 : modulus - i / 2;
    cycle.push_back((start + offset) % modulus);
  }
  cycle.push_back(ranks - 1);
  return cycle;
}

/// The order of ranks along lane `lane`. Named so that the first cycle is 0, 1, 2, ...
std::vector<Rank> cycle_of(int ranks, int lane) {
  const int cycles = std::max(1, (ranks - 1) / 2);
  const std::vector<Rank> first = zigzag(ranks, 0);
  std::vector<Rank> name(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) name[static_cast<std::size_t>(first[i])] = static_cast<Rank>(i);
  std::vector<Rank> cycle = zigzag(ranks, lane % cycles);
  for (Rank& rank : cycle) rank = name[static_cast<std::size_t>(rank)];
  if (lane / cycles % 2 == 1) std::reverse(cycle.begin(), cycle.end());
  return cycle;
}

Schedule build(const BuildContext& context) {
  const int ranks = context.ranks;
  if (ranks == 1) return side_by_side("multi-ring", 1, {alone()});
  std::vector<Lane> lanes;
  for (int lane = 0; lane < context.parameters.integer("lanes"); ++lane) {
    const Lane ring = schedule::build("ring", {ranks, cycle_of(ranks, lane), {}}).lanes.front();
    lanes.push_back(relabel(ring, context.order));
  }
  return side_by_side("multi-ring", ranks, std::move(lanes));
}

const std::array<ParameterSpec, 1> specs{
    {{"lanes", ParameterType::integer, "", "2", 1, 16, "rings side by side, each over its own links while there are"}}};

}  // namespace

const Builder& multi_ring_builder() {
  static const Builder builder{"multi-ring", "rings side by side over different links", specs,
                               [](const BuildContext&) { return Verdict::yes(); }, build};
  return builder;
}

}  // namespace ringmaster::schedule
