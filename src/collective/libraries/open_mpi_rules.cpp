// SPDX-License-Identifier: Apache-2.0
#include "collective/libraries/open_mpi_rules.hpp"

#include <bit>

namespace ringmaster::collective::detail {
namespace {

/// A segment is at most the vector; else the bytes asked for, rounded to the nearest element.
std::int64_t segment_elements(std::int64_t segment_bytes, std::int64_t elements, std::int64_t element_bytes) {
  if (segment_bytes < element_bytes || segment_bytes >= elements * element_bytes) return elements;
  const bool rounds_up = segment_bytes % element_bytes > element_bytes / 2;
  return segment_bytes / element_bytes + (rounds_up ? 1 : 0);
}

}  // namespace

AlgorithmRan algorithm_that_runs(const ForcedAlgorithm& forced, std::int64_t elements, std::int64_t element_bytes,
                                 int ranks) {
  if (elements == 0) return {"nothing", "no elements"};
  if (forced.name == "rabenseifner") {
    const auto core = static_cast<std::int64_t>(std::bit_floor(static_cast<unsigned>(ranks)));
    if (elements < core) return {"basic-linear", "count < the power of two within the ranks"};
    return {forced.name, {}};
  }
  AlgorithmRan ran{forced.name, {}};
  if (ran.name == "segmented-ring") {
    const std::int64_t segment = segment_elements(forced.segment_bytes, elements, element_bytes);
    if (elements < ranks * segment) {
      ran = {"ring", forced.segment_bytes < element_bytes ? "no segment size" : "count < ranks x segment"};
    }
  }
  if (ran.name == "ring" && elements < ranks) ran = {"recursive-doubling", "count < ranks"};
  return ran;
}

}  // namespace ringmaster::collective::detail
