// SPDX-License-Identifier: Apache-2.0
// What Open MPI makes of an allreduce algorithm that it is told to use: it puts another one in its place, without a
// word, where the vector is too short. Holds for 4.1; a test compares with what really ran.
#pragma once

#include <cstdint>
#include <string>

namespace ringmaster::collective::detail {

struct ForcedAlgorithm {
  std::string name = "ring";  // as in `library-algorithm`
  std::int64_t segment_bytes = 0;
};

struct AlgorithmRan {
  std::string name;
  std::string because;  // empty: as asked for
};

AlgorithmRan algorithm_that_runs(const ForcedAlgorithm& forced, std::int64_t elements, std::int64_t element_bytes,
                                 int ranks);

}  // namespace ringmaster::collective::detail
