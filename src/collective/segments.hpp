// SPDX-License-Identifier: Apache-2.0
// A vector cut into segments that follow each other through a compiled flow, a few of them in flight: pipelining, the
// same for every executor. Internal to `collective`.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ringmaster::collective {

constexpr int segments_in_flight = 4;

/// So many whole 64-byte lines of elements, at least one.
constexpr std::int64_t segment_elements(std::int64_t bytes, std::int64_t element_bytes) {
  const std::int64_t quantum = 64 / element_bytes;
  return std::max(quantum, bytes / element_bytes / quantum * quantum);
}

/// Flow: what a segment runs; full segments share one, the last has its own. Flight: start(flow, first element),
/// active(), progress() (true when the segment is complete). Not thread safe.
template <class Flow, class Flight>
class Segments {
 public:
  Segments() = default;
  /// `compile(elements)` makes the flow of a segment of so many elements.
  template <class Compile>
  Segments(std::int64_t elements, std::int64_t segment, const Compile& compile)
      : segment_(segment), segments_((elements + segment - 1) / segment) {
    if (segments_ == 0) return;
    last_ = compile(elements - (segments_ - 1) * segment_);
    if (segments_ > 1) full_ = compile(segment_);
  }

  std::int64_t count() const { return segments_; }
  int flights() const { return static_cast<int>(std::min<std::int64_t>(segments_in_flight, segments_)); }
  /// The flows that a flight may be given; the first is empty where there is one segment only.
  std::array<const Flow*, 2> flows() const { return {&full_, &last_}; }
  /// flights() of them are added before the first start.
  void add(std::unique_ptr<Flight> flight) { flights_.push_back(std::move(flight)); }

  void start() {
    for (std::size_t i = 0; i < flights_.size(); ++i) {
      next_[i] = static_cast<std::int64_t>(i);
      start_next(i);
    }
  }

  bool progress() {
    bool complete = true;
    for (std::size_t i = 0; i < flights_.size(); ++i) {
      Flight& flight = *flights_[i];
      if (flight.active() && flight.progress() && next_[i] < segments_) start_next(i);
      complete = complete && !flight.active();
    }
    return complete;
  }

 private:
  // Flight i takes segments i, i + segments_in_flight, ... whatever finishes first: every rank gives it the same.
  void start_next(std::size_t i) {
    const std::int64_t segment = next_[i];
    flights_[i]->start(segment == segments_ - 1 ? last_ : full_, segment * segment_);
    next_[i] += segments_in_flight;
  }

  std::int64_t segment_ = 1;
  std::int64_t segments_ = 0;
  std::array<std::int64_t, segments_in_flight> next_{};
  Flow full_;
  Flow last_;
  std::vector<std::unique_ptr<Flight>> flights_;
};

}  // namespace ringmaster::collective
