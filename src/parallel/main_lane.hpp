// SPDX-License-Identifier: Apache-2.0
// The main lane of a rank while it trains: opens named stretches of time, and inserts the planted fault of a test
// into the phase that it is meant for. One planted sleep a step; it happens in the middle of its phase where the step
// has such a phase, and at the end of the step where it has none (encode on a rank that encodes nothing).
#pragma once

#include <chrono>
#include <cstdint>
#include <thread>

#include "base/activity.hpp"
#include "base/recorder.hpp"
#include "parallel/data_parallel.hpp"

namespace ringmaster::parallel {

class MainLane {
 public:
  MainLane(Recorder& recorder, const Plant& plant, int rank)
      : recorder_(recorder),
        plant_(plant),
        sleeps_(plant.sleep_s > 0 && (plant.rank < 0 || plant.rank == rank)),
        slower_(plant.compute_factor > 1 && (plant.rank < 0 || plant.rank == rank)) {}

  void begin_step(std::int32_t step) {
    step_ = step;
    due_ = sleeps_;
    activity().step.store(step, std::memory_order_relaxed);
  }
  std::int32_t step() const { return step_; }

  /// Says for the message of an interrupted job what begins now. `phase` is a literal.
  static void enter(const char* phase) {
    activity().phase.store(phase, std::memory_order_relaxed);
    activity().touch();
  }

  Scope open(Label label, std::int32_t index = -1) { return {recorder_, label, step_, index}; }
  void record(Label label, Nanoseconds begin, std::int32_t index) {
    recorder_.record({begin, now_ns(), 0, step_, index, label, EventLane::main});
  }
  void record_instant(Label label, std::int32_t index, std::int64_t bytes) {
    const Nanoseconds now = now_ns();
    recorder_.record({now, now, bytes, step_, index, label, EventLane::main});
  }

  /// In the middle of a phase of this label.
  void plant_in(Label here, std::int32_t index = -1) {
    if (due_ && !plant_.unrecorded && plant_.label == here) sleep_recorded(index);
  }
  /// Outside of every phase: the sleep that nothing records.
  void plant_outside() {
    if (!due_ || !plant_.unrecorded) return;
    due_ = false;
    sleep();
  }
  /// At the end of the step: a label whose phase this step did not have.
  void plant_rest() {
    if (due_ && !plant_.unrecorded) sleep_recorded(-1);
  }
  /// Samples' worth of real work to add per sample; 0 where this rank is not planted.
  double extra_compute() const { return slower_ ? plant_.compute_factor - 1 : 0; }

 private:
  void sleep_recorded(std::int32_t index) {
    due_ = false;
    const Scope scope = open(plant_.label, index);
    sleep();
  }
  void sleep() const { std::this_thread::sleep_for(std::chrono::duration<double>(plant_.sleep_s)); }

  Recorder& recorder_;
  Plant plant_;
  bool sleeps_;
  bool slower_;
  bool due_ = false;
  std::int32_t step_ = 0;
};

}  // namespace ringmaster::parallel
