// SPDX-License-Identifier: Apache-2.0
// A lane compiled for memory that the ranks of a node see: inside a node no messages, only sums that read from and
// store to anybody's memory, and for each of them what it must wait for. Made by running the schedule symbolically for
// all ranks:
//
// - Every write of a chunk is a *version*. Who reads it, and what it replaces, gives the waits: a sum waits for the
//   producers of what it reads and for the readers of what it overwrites, nothing else. Rounds are gone.
// - A version goes to its place in the output unless another sum of its round still reads what lies there; then it
//   goes to scratch, and is moved once those have read.
// - A receive of what the sender itself has just added is no step of its own: the sender's sum stores it there too
//   (push), where nobody can still read what it overwrites. So a reduce-scatter followed by an all-gather reads and
//   writes the vector once.
// - What a rank reads of another node's rank comes in a message: the owner sends it, and the reader has a version of
// its
//   own. A receive is posted as early as its memory is free, at the start where it goes to scratch; a send is waited
//   for as late as possible, before something overwrites what it reads. Messages between two ranks are posted in the
//   same order on both sides, and no step waits for a later round: no rank can wait for itself.
//
// Values; compiled before anything is timed; thread safe once made. A dataflow depends on the segment's length, not on
// its place.
#pragma once

#include <cstdint>
#include <vector>

#include "base/data_type.hpp"
#include "collective/plan.hpp"
#include "schedule/schedule.hpp"

namespace ringmaster::collective {

/// Which memory of a rank; scratch is the executor's own, and shared.
enum class Home : std::uint8_t { input, output, scratch };

struct Location {
  schedule::Rank rank = 0;
  Home home = Home::output;
  std::int64_t begin = 0;  // elements from the start of the segment, or of scratch
  bool operator==(const Location&) const = default;
};

/// Until `rank` has done so many of its steps; 0: until it has begun.
struct Wait {
  schedule::Rank rank = 0;
  std::int64_t steps = 0;
};

/// sum: destinations = sources, added left to right (one source: a copy). send, receive: post the message. await: until
/// it is complete.
enum class StepKind : std::uint8_t { sum, send, receive, await };

struct DataflowStep {
  StepKind kind = StepKind::sum;
  std::int32_t message = 0;  // in Dataflow::messages, of all but sums
  std::int64_t elements = 0;
  std::int32_t first_wait = 0, wait_count = 0;
  std::int32_t first_source = 0, source_count = 0;
  std::int32_t first_destination = 0, destination_count = 0;
  bool read_again = true;  // by a later step: keep it in the caches
  bool completes = false;  // the sum of all ranks: where an average is divided
};

/// Sent from, or received at, a place of this rank's.
struct DataflowMessage {
  schedule::Rank peer = 0;
  Location place;
  std::int64_t elements = 0;
};

struct Dataflow {
  std::vector<DataflowStep> steps;  // this rank's, in order
  std::vector<Wait> waits;
  std::vector<Location> sources;
  std::vector<Location> destinations;
  std::vector<DataflowMessage> messages;
  std::vector<Wait> at_end;            // until others are done with this rank's vectors and scratch
  std::vector<Wait> at_end_of_turn;    // the same, if the next run uses other scratch; a part of at_end
  std::vector<std::int64_t> steps_of;  // of every rank
  std::int64_t scratch_elements = 0;   // of the rank that needs most
};

/// Who may touch a rank's vectors: all ranks of its node (they lie in shared memory), or their owner only.
enum class Vectors : std::uint8_t { shared, own };

/// Compiles `rank`'s part of lane `lane` for a segment of so many elements. Chunk borders are multiples of 64 bytes.
/// The schedule must be one that the verifier proves. `nodes`: of each rank; empty: all are on one.
Dataflow compile_dataflow(const schedule::Schedule& schedule, std::size_t lane, schedule::Rank rank,
                          std::int64_t elements, DataType type, Aliasing aliasing, Vectors vectors,
                          const std::vector<int>& nodes = {});

}  // namespace ringmaster::collective
