// SPDX-License-Identifier: Apache-2.0
// Edits of one rank's program, from which combinators are made. Pure functions of their arguments; thread safe.
#pragma once

#include <functional>
#include <vector>

#include "schedule/schedule.hpp"

namespace ringmaster::schedule {

/// Where a chunk of a part lies in the whole.
using ChunkMap = std::function<std::vector<ChunkRange>(std::int64_t chunk)>;

/// Rank i of the program becomes ranks[i].
void map_peers(Program& program, const std::vector<Rank>& ranks);

/// Chunks become those of the whole. A region lists them in ascending order: sender and receiver agree.
void map_chunks(Program& program, const ChunkMap& map);

/// The transfers of `other` join those of the rounds from `first_round` on.
void overlay(Program& onto, const Program& other, std::size_t first_round);

/// A reduction backwards: who added now hands out the result, who sent receives it.
Program mirrored(const Program& reduction);

/// A rank finds its own value in the output once it has added to it: reads of such input chunks become reads of the
/// output. Where a region mixes both, the rest is copied over a round before.
void settle(Program& program);

/// Ranges of these chunks, in this order; neighbours are joined.
std::vector<ChunkRange> ranges_of(const std::vector<std::int64_t>& chunks);

}  // namespace ringmaster::schedule
