// SPDX-License-Identifier: Apache-2.0
// What this rank is doing right now, for the message of a failing or interrupted job. Written with relaxed
// atomics on the path of a step (a store costs nothing), read by the watchdog's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace ringmaster {

/// A copy that lives as long as the process: a rank that fails says where it was when everything else is gone.
/// Thread safe; equal names share one copy.
const char* lasting(const std::string& name);

/// One a process (ranks that are threads share it, which only tests do). Strings must be static or `lasting`.
struct Activity {
  std::atomic<const char*> phase{"start"};  // "forward", "waiting for a bucket", "bench", ...
  std::atomic<const char*> operation{""};   // name of the collective in flight
  std::atomic<const char*> point{""};       // name of the sweep point
  std::atomic<std::int64_t> step{-1};
  std::atomic<std::int64_t> bucket{-1};
  std::atomic<std::int64_t> round{-1};  // round of the schedule
  std::atomic<std::int64_t> peer{-1};   // rank waited for, where known
  std::atomic<std::uint64_t> ticks{0};  // counts what moved: the watchdog's food

  /// No clock and no locked instruction: a collective of a microsecond calls it too. (Threads of one process may lose
  /// a tick of each other; any change will do.)
  void touch() { ticks.store(ticks.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  /// A phase outside of steps: bucket, operation and peer of the last one are forgotten; point and step say how far it
  /// came.
  void enter(const char* name);
  /// "point ring, step 12, bucket 3, waiting for a bucket, ring round 1, for rank 0".
  std::string describe() const;
};

Activity& activity();

}  // namespace ringmaster
