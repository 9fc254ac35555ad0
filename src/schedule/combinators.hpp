// SPDX-License-Identifier: Apache-2.0
// How builders stay small: lanes are put one after the other, side by side, on other ranks, inside each other, or on a
// rank count that suits them; a reduction is run backwards. What a combinator makes may read `input` for "my own
// value" throughout: the result reads the output wherever it has been written.
// Values; pure functions; thread safe.
#pragma once

#include <functional>
#include <vector>

#include "schedule/reduction.hpp"
#include "schedule/schedule.hpp"

namespace ringmaster::schedule {

/// An algorithm for any of the rank counts that it is asked for.
using MakeLane = std::function<Lane(int ranks)>;
using MakeReduction = std::function<Reduction(int ranks)>;

/// `first`, then `second`, over the same chunks.
Lane sequence(Lane first, Lane second);

/// Lanes over disjoint slices of the vector, at the same time.
Schedule side_by_side(std::string name, int ranks, std::vector<Lane> lanes);

/// The lanes of a schedule as one, round by round: for combinators, which take one lane. Sums are in rank order.
Lane merged(const Schedule& schedule);

/// The lane with rank order[i] in the place of rank i; sums keep their order. An empty order changes nothing.
Lane relabel(Lane lane, std::vector<Rank> order);

/// A reduction, in which each rank sends its share of a chunk on once, then the same way back with the result.
Lane there_and_back(Lane reduction);

/// Which one of two paired ranks hands its vector over.
enum class HandsOver : std::uint8_t { even, odd };

/// An allreduce for any rank count from one for `core` ranks, core >= ranks / 2: the first 2 (ranks - core) ranks pair
/// up, one of a pair adds its vector to the other's before and receives the result after.
/// (Thakur, Rabenseifner, Gropp 2005, section 4.5.)
Lane fold(int ranks, int core, const MakeLane& make, HandsOver who = HandsOver::even);

/// The same for long vectors: in one half of the vector one of a pair hands over, in the other half the other one.
std::vector<Lane> fold_halves(int ranks, int core, const MakeLane& make);

/// An allreduce in two levels, over groups of `group` consecutive ranks (the last may be smaller): a reduction inside
/// each group, an allreduce across groups among the ranks that own the same shard, and the reduction's way back.
/// A smaller group deals the shards out to those ranks that it has.
Lane nested(int ranks, int group, const MakeReduction& inside, const MakeLane& across);

/// One rank alone: the output is the input.
Lane alone();

/// Transfers in short. `chunks` is one range.
Transfer send(Rank peer, Space from, ChunkRange chunks);
Transfer receive(Rank peer, ChunkRange chunks);
/// output = own + what peer sent, own from `operand`.
Transfer receive_reduce(Rank peer, Space operand, ChunkRange chunks);

}  // namespace ringmaster::schedule
