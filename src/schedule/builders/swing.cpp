// SPDX-License-Identifier: Apache-2.0
// Swing: a butterfly whose partners lie 1, -1, 3, -5, 11, ... away, so that on a ring or torus messages travel less far
// than those of recursive doubling. bandwidth: reduce-scatter and all-gather, least bytes in 2 ceil(log2 p) steps.
// latency: whole vectors, log2 p steps. (De Sensi et al. 2024, *Swing: Short-cutting rings for higher bandwidth
// allreduce*, section 3.) Even rank counts that are no power of two reach a rank twice: the second time is left
// out. Odd ones are folded.
#include <array>
#include <bit>

#include "schedule/builders.hpp"
#include "schedule/butterfly.hpp"
#include "schedule/combinators.hpp"

namespace ringmaster::schedule {
namespace {

Butterfly swing(int ranks) {
  Butterfly butterfly{ranks, {}};
  std::int64_t power = -2;  // (-2)^(step + 1)
  for (int reach = 1; reach < ranks; reach *= 2) {
    butterfly.distances.push_back((1 - power) / 3);
    power *= -2;
  }
  return butterfly;
}

std::vector<Lane> lanes_for(int ranks, bool latency) {
  if (latency) {
    const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)));
    return {fold(ranks, core, [](int p) { return exchange(swing(p)); })};
  }
  return fold_halves(ranks, ranks / 2 * 2, [](int p) { return there_and_back(reduce_to_owners(swing(p))); });
}

Schedule build(const BuildContext& context) {
  if (context.ranks == 1) return side_by_side("swing", 1, {alone()});
  std::vector<Lane> lanes = lanes_for(context.ranks, context.parameters.text("form") == "latency");
  for (Lane& lane : lanes) lane = relabel(lane, context.order);
  return side_by_side("swing", context.ranks, std::move(lanes));
}

const std::array<ParameterSpec, 1> specs{{{"form",
                                           ParameterType::text,
                                           "",
                                           "bandwidth",
                                           0,
                                           0,
                                           "reduce chunks then share them, or whole vectors at once",
                                           {"bandwidth", "latency"}}}};

}  // namespace

const Builder& swing_builder() {
  static const Builder builder{"swing", "a butterfly with short ways on rings and tori; log2(p) or 2 log2(p) steps",
                               specs, [](const BuildContext&) { return Verdict::yes(); }, build};
  return builder;
}

}  // namespace ringmaster::schedule
