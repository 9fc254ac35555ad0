// SPDX-License-Identifier: Apache-2.0
// Direct: everybody talks to everybody. two-shot: rank j adds chunk j of all ranks, then sends it to all: 2 steps,
// the least bytes, 2 (p - 1) messages at once. one-shot: whole vectors to all, one step, p - 1 vectors sent; sums
// run in rank order everywhere, so all ranks get the same bits.
#include <array>

#include "schedule/builders.hpp"
#include "schedule/combinators.hpp"

namespace ringmaster::schedule {
namespace {

/// Peers in an order that starts after the own rank: not everybody sends to rank 0 first.
template <class Body>
void for_each_peer(Rank rank, int ranks, Body body) {
  for (int i = 1; i < ranks; ++i) body((rank + i) % ranks);
}

Program two_shot(Rank rank, int ranks) {
  Program program(2);
  const ChunkRange own{rank, 1};
  for_each_peer(rank, ranks, [&](Rank peer) {
    program[0].transfers.push_back(send(peer, Space::input, {peer, 1}));
    program[1].transfers.push_back(send(peer, Space::output, own));
  });
  for_each_peer(rank, ranks, [&](Rank peer) {
    program[0].transfers.push_back(receive_reduce(peer, Space::input, own));
    program[1].transfers.push_back(receive(peer, {peer, 1}));
  });
  return program;
}

Program one_shot(Rank rank, int ranks) {
  Program program(1);
  for_each_peer(rank, ranks, [&](Rank peer) { program[0].transfers.push_back(send(peer, Space::input, {})); });
  for_each_peer(rank, ranks,
                [&](Rank peer) { program[0].transfers.push_back(receive_reduce(peer, Space::input, {})); });
  return program;
}

Schedule build(const BuildContext& context) {
  const int ranks = context.ranks;
  if (ranks == 1) return side_by_side("direct", 1, {alone()});
  const bool two = context.parameters.text("form") == "two-shot";
  Lane lane;
  lane.chunks = two ? ranks : 1;
  lane.rounds = two ? 2 : 1;
  lane.program = [ranks, two](Rank rank) { return two ? two_shot(rank, ranks) : one_shot(rank, ranks); };
  return side_by_side("direct", ranks, {relabel(lane, context.order)});
}

const std::array<ParameterSpec, 1> specs{{{"form",
                                           ParameterType::text,
                                           "",
                                           "two-shot",
                                           0,
                                           0,
                                           "reduce chunks then share them, or whole vectors at once",
                                           {"two-shot", "one-shot"}}}};

}  // namespace

const Builder& direct_builder() {
  static const Builder builder{"direct", "everybody to everybody; 1 or 2 steps", specs,
                               [](const BuildContext&) { return Verdict::yes(); }, build};
  return builder;
}

}  // namespace ringmaster::schedule
