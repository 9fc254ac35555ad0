// SPDX-License-Identifier: Apache-2.0
// An algorithm as data: for each rank, rounds of transfers over chunks of a vector.
//
//   Schedule -> lanes (disjoint slices of the vector, side by side) -> program(rank) -> rounds -> transfers
//
// Semantics. All transfers of a round are concurrent: everything read in a round (sends, copies, the local
// operand of a reduction) is the state before the round, and everything written is visible after it. Sends and
// receives match by (source, destination, lane, round, ordinal). Contributions to a chunk in one round are added
// in the order of their source ranks (in a lane with a rank order of its own, of their places in it) with the own
// value at the own rank's place, left to right: this order is part of the meaning, because it decides the bits.
// Input may alias output (in place): the same schedule serves both, so it must not read an input chunk after it
// wrote the output chunk of that number.
// Values; pure functions of (rank, ranks, parameters); thread safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ringmaster::schedule {

using Rank = int;

enum class Space : std::uint8_t { input, output, slot };

/// Chunks [first, first + count) of a space.
struct ChunkRange {
  std::int64_t first = 0;
  std::int64_t count = 1;
  bool operator==(const ChunkRange&) const = default;
};

/// Chunks of one space, in the order in which they lie on the wire. `slot` counts only in Space::slot; a slot is
/// scratch memory shaped like the lane's slice.
struct Region {
  Space space = Space::output;
  int slot = 0;
  std::vector<ChunkRange> ranges;

  std::int64_t chunk_count() const;
  std::vector<std::int64_t> chunk_list() const;
  bool operator==(const Region&) const = default;
};

enum class TransferKind : std::uint8_t {
  send,            // from -> peer
  receive,         // peer -> to
  receive_reduce,  // to = from (own operand) + what peer sent
  copy,            // to = from (local)
  reduce,          // to = to + from (local; from's rank is `peer`: it orders the sum)
};

/// How the bytes travel: plain; encoded by a codec at the sender; or, received encoded, sent on unchanged.
enum class Wire : std::uint8_t { plain, encoded, forwarded };

struct Transfer {
  TransferKind kind = TransferKind::send;
  Rank peer = 0;
  Region from;
  Region to;
  Wire wire = Wire::plain;
  bool operator==(const Transfer&) const = default;
};

struct Round {
  std::vector<Transfer> transfers;
};

using Program = std::vector<Round>;

/// One algorithm over its own slice of the vector, cut into `chunks` chunks (the last may be empty).
/// `weight` is the lane's share of the vector relative to the other lanes.
struct Lane {
  std::int64_t chunks = 1;
  int rounds = 0;
  int slots = 0;
  std::int64_t weight = 1;
  std::function<Program(Rank)> program;
  std::vector<Rank> place = {};  // of each rank in the lane's rank order, which orders sums; empty: the rank itself

  Rank place_of(Rank rank) const { return place.empty() ? rank : place[static_cast<std::size_t>(rank)]; }
};

/// What must hold at the end (P ranks, chunk c of `chunks`; "owner of c" is c mod P for reduce_scatter/all_gather).
enum class Collective : std::uint8_t { allreduce, reduce_scatter, all_gather, reduce, broadcast };
const char* name_of(Collective collective);

struct Schedule {
  std::string name;  // as the user named it, with parameters: "ring", "direct form=one_shot"
  Collective collective = Collective::allreduce;
  int ranks = 1;
  Rank root = 0;  // reduce and broadcast
  std::vector<Lane> lanes;
};

/// Element ranges of chunks: chunk i of `chunks` over [0, count), borders multiples of `quantum` elements.
struct ElementRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
};
ElementRange chunk_elements(std::int64_t count, std::int64_t chunks, std::int64_t index, std::int64_t quantum);

/// The slices of the lanes over [0, count), by weight, borders multiples of `quantum`.
ElementRange lane_elements(const Schedule& schedule, std::size_t lane, std::int64_t count, std::int64_t quantum);

}  // namespace ringmaster::schedule
