// SPDX-License-Identifier: Apache-2.0
// The event recorder: a fixed ring of (label, begin, end, lane, bytes). No allocation, lock or I/O on the path
// of a step; one writer a recorder (the main lane and the engine's lane each have one). Read between steps.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/clock.hpp"

namespace ringmaster {

/// What a rank's main lane does (up to `other`: what must add up to the step), and what else is recorded.
enum class Label : std::uint8_t {
  data_wait,  // waiting for the loader
  forward,
  backward,
  exposed_wait,  // waiting for a bucket; split into skew and transfer afterwards
  encode,        // encode and decode on the main lane
  optimizer,
  host_gap,
  pipeline_bubble,
  progress,         // inline progress of the engine: communication work on the main lane
  other,            // named work that is none of the above (zeroing gradients, bookkeeping)
  step,             // the whole optimizer step
  bucket_enqueued,  // an instant: begin = end; index = bucket
  bucket_transfer,  // engine: from the first message to the last; index = bucket
};
constexpr int activity_count = static_cast<int>(Label::step);  // labels of what the main lane does
const char* name_of(Label label);

enum class EventLane : std::uint8_t { main, engine };

struct Event {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
  std::int64_t bytes = 0;
  std::int32_t step = 0;
  std::int32_t index = -1;  // layer or bucket
  Label label = Label::other;
  EventLane lane = EventLane::main;
};

/// Ring of events; the oldest are overwritten, and `lost()` says how many.
class Recorder {
 public:
  explicit Recorder(std::size_t capacity = 1U << 16U);

  void set_enabled(bool enabled) { enabled_ = enabled; }
  bool enabled() const { return enabled_; }

  void record(const Event& event) {
    if (!enabled_) return;
    events_[static_cast<std::size_t>(written_) & mask_] = event;
    ++written_;
  }

  /// Events since the last `clear`, oldest first.
  std::vector<Event> events() const;
  std::int64_t lost() const;
  void clear() { written_ = 0; }

 private:
  std::vector<Event> events_;
  std::size_t mask_;
  std::int64_t written_ = 0;
  bool enabled_ = true;
};

/// Records its own lifetime.
class Scope {
 public:
  Scope(Recorder& recorder, Label label, std::int32_t step, std::int32_t index = -1)
      : recorder_(recorder), event_{now_ns(), 0, 0, step, index, label, EventLane::main} {}
  ~Scope() {
    event_.end = now_ns();
    recorder_.record(event_);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  Scope(Scope&&) = delete;
  Scope& operator=(Scope&&) = delete;

 private:
  Recorder& recorder_;
  Event event_;
};

}  // namespace ringmaster
