// SPDX-License-Identifier: Apache-2.0
// The clock of all measurements: CLOCK_MONOTONIC_RAW in nanoseconds. A read costs about 30 ns.
#pragma once

#include <cstdint>
#include <ctime>

namespace ringmaster {

using Nanoseconds = std::int64_t;

inline Nanoseconds now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return static_cast<Nanoseconds>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

inline double to_seconds(Nanoseconds ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace ringmaster
