// SPDX-License-Identifier: Apache-2.0
// The asynchronous engine: runs operations in the order in which they are submitted, several in flight, while the
// main lane computes. With a spare processing unit it has its own thread; without one, `poll` moves it on from
// between layers, and never is a thread left blocked inside the library.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/recorder.hpp"
#include "collective/operation.hpp"

namespace ringmaster::collective {

enum class EngineMode { own_thread, inline_progress };

struct EngineOptions {
  EngineMode mode = EngineMode::inline_progress;
  int in_flight = 2;  // operations that progress at the same time
  Waiting waiting = Waiting::yield;
  Recorder* recorder = nullptr;  // the engine's lane: bucket_transfer events
};

/// `submit`, `poll`, `wait` come from one thread (the main lane).
class Engine {
 public:
  explicit Engine(const EngineOptions& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  /// Queues a run of `operation` (not owned; must outlive its completion). `index` and `step` label its event;
  /// returns a ticket, counting up from 0.
  std::int64_t submit(Operation& operation, std::int32_t step, std::int32_t index, std::int64_t bytes);
  /// Inline mode: one pass over the operations in flight. Own thread: does nothing.
  void poll();
  /// Returns when the run of that ticket is complete. Rethrows what the operation threw.
  void wait(std::int64_t ticket);
  void wait_all();

  EngineMode mode() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringmaster::collective
