// SPDX-License-Identifier: Apache-2.0
// How builders stay small: lanes are put one after the other, side by side, on other ranks, or on a power of two.
// Values; pure functions; thread safe.
#pragma once

#include <functional>
#include <vector>

#include "schedule/schedule.hpp"

namespace ringmaster::schedule {

/// `first`, then `second`, over the same chunks.
Lane sequence(Lane first, Lane second);

/// Lanes over disjoint slices of the vector, at the same time.
Schedule side_by_side(std::string name, int ranks, std::vector<Lane> lanes);

/// The lane with rank order[i] in the place of rank i. An empty order changes nothing.
Lane relabel(Lane lane, std::vector<Rank> order);

/// An allreduce for any rank count from one for powers of two: while p is no power of two, the first 2 (p - 2^k)
/// ranks pair up, the even one adds its vector to the odd one's before and receives the result after.
/// (Thakur, Rabenseifner, Gropp 2005, section 4.5.)
Lane fold(int ranks, const std::function<Lane(int power_of_two)>& make);

/// One rank alone: the output is the input.
Lane alone();

/// Transfers in short. `chunks` is one range.
Transfer send(Rank peer, Space from, ChunkRange chunks);
Transfer receive(Rank peer, ChunkRange chunks);
/// output = own + what peer sent, own from `operand`.
Transfer receive_reduce(Rank peer, Space operand, ChunkRange chunks);

}  // namespace ringmaster::schedule
