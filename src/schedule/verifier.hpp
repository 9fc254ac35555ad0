// SPDX-License-Identifier: Apache-2.0
// Proves a schedule by symbolic execution. Every chunk of every rank holds an expression (hash-consed: sums with
// their order, encode and decode as nodes); at the end the collective's post-condition must hold and every rank
// must hold the *same expression*, so that the results are bit-identical, not merely complete. Also: every send has
// its receive of equal size, no two writes of a round conflict, nothing reads what was never written, and all of
// it both out of place and in place (input aliases output).
#pragma once

#include <string>
#include <vector>

#include "schedule/schedule.hpp"

namespace ringmaster::schedule {

/// Empty `problems` = proved. Each problem is one sentence with rank, lane, round and chunk.
struct Proof {
  std::vector<std::string> problems;
  bool ok() const { return problems.empty(); }
};

/// At most `limit` problems are collected. Encoded wires count as a lossy codec.
Proof verify(const Schedule& schedule, int limit = 8);

/// A name-free text of what a schedule does, chunk by chunk. Two schedules with the same text are the same
/// algorithm at this rank count (ring = rabenseifner at 2 ranks).
std::string canonical_form(const Schedule& schedule);

/// Costs by counting, never from a formula. Bytes are shares of the vector: 1.0 = one whole vector.
struct Counts {
  int rounds = 0;                           // longest lane
  std::vector<std::int64_t> messages_sent;  // by rank
  std::vector<double> sent;                 // by rank, in vectors
  std::vector<double> received;             // by rank, in vectors
  std::vector<std::vector<double>> link;    // [source][destination], in vectors
  double busiest_sent() const;
  double total_sent() const;
};
Counts count(const Schedule& schedule);

/// A drawing in text: a column a rank, a block a round.
std::string draw(const Schedule& schedule);

}  // namespace ringmaster::schedule
