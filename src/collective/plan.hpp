// SPDX-License-Identifier: Apache-2.0
// A rank's program over one segment, compiled: element ranges instead of chunks, bounce buffer offsets, and one
// multi-input sum where several contributions meet. A plan depends on the segment's length, not on its place, so that
// all full segments share one. Values; compiled before anything is timed; thread safe once made.
#pragma once

#include <cstdint>
#include <vector>

#include "base/data_type.hpp"
#include "schedule/completion.hpp"
#include "schedule/schedule.hpp"

namespace ringmaster::collective {

/// Where memory of a segment lies. `bounce` is the segment's own receive buffer.
enum class Place : std::uint8_t { input, output, slot, bounce };

/// A contiguous run of elements. For Place::slot, `slot` says which.
struct Piece {
  Place place = Place::output;
  int slot = 0;
  std::int64_t begin = 0;  // elements from the segment's start; in the bounce buffer from its start
  std::int64_t elements = 0;
};

struct PlannedMessage {
  schedule::Rank peer = 0;
  Piece piece;
};

/// When a sum of a round may run; after_sends: its destination is being sent, wait until it was read.
enum class SumTime : std::uint8_t { after_receives, after_sends };

/// destination = sources, added left to right. One source: a copy.
struct PlannedSum {
  Piece destination;
  std::int32_t first_source = 0;  // in Plan::sources
  std::int32_t source_count = 0;
  SumTime time = SumTime::after_receives;
  bool completes = false;  // the sum of all ranks: where an average is divided
};

struct PlannedRound {
  std::int32_t first_receive = 0, receive_count = 0;
  std::int32_t first_send = 0, send_count = 0;
  std::int32_t first_pack = 0, pack_count = 0;  // sums (copies) before the sends: what is sent in one piece
  std::int32_t first_sum = 0, sum_count = 0;
  bool receives_early = false;  // all receives go to the bounce buffer: they may be posted a round ahead
};

struct Plan {
  std::int64_t elements = 0;         // of the segment
  std::int64_t bounce_elements = 0;  // two halves: rounds take turns
  int slots = 0;
  int most_receives = 0;  // of any round
  int most_sends = 0;
  std::vector<PlannedRound> rounds;
  std::vector<PlannedMessage> receives;
  std::vector<PlannedMessage> sends;
  std::vector<PlannedSum> sums;
  std::vector<Piece> sources;
};

enum class Aliasing : std::uint8_t { out_of_place, in_place };

/// Compiles `rank`'s part of `lane` for a segment of so many elements. Chunk borders are multiples of 64 bytes.
/// `completion` is of that rank.
Plan compile(const schedule::Lane& lane, schedule::Rank rank, std::int64_t elements, DataType type, Aliasing aliasing,
             const schedule::Completion& completion = {});

}  // namespace ringmaster::collective
