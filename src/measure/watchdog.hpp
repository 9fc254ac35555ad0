// SPDX-License-Identifier: Apache-2.0
// A thread a rank that waits for signals and for standstill. SIGTERM and SIGINT: calls `on_interrupt` (flush, at
// most 0.5 s) with the signal's name and ends the process with 128 + signal. No progress for `timeout_s`: says what
// the rank is in, without communicating, waits 2 s and aborts the job. Construct before any other thread, so that
// all threads inherit the blocked signals.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace ringmaster::measure {

struct WatchdogOptions {
  double timeout_s = 60;
  std::function<void(const std::string& reason)> on_interrupt;  // from the watchdog's thread
};

class Watchdog {
 public:
  explicit Watchdog(WatchdogOptions options);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// From here on a rank that touches memory which is gone (SIGBUS: a file that it has mapped was cut) reports that and
  /// takes the job down. After MPI has started: the library puts a handler of its own there.
  void watch_mapped_files();

  /// Thread safe. Progress is `activity().touch()`; a rank that does not touch for so long stands still.
  void set_timeout(double seconds);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringmaster::measure
