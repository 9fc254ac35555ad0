// SPDX-License-Identifier: Apache-2.0
#include "base/recorder.hpp"

#include <algorithm>
#include <bit>

namespace ringmaster {

const char* name_of(Label label) {
  switch (label) {
    case Label::data_wait: return "data_wait";
    case Label::forward: return "forward";
    case Label::backward: return "backward";
    case Label::exposed_wait: return "exposed_wait";
    case Label::encode: return "encode";
    case Label::optimizer: return "optimizer";
    case Label::host_gap: return "host_gap";
    case Label::pipeline_bubble: return "pipeline_bubble";
    case Label::progress: return "progress";
    case Label::other: return "other";
    case Label::step: return "step";
    case Label::bucket_enqueued: return "bucket_enqueued";
    case Label::bucket_transfer: return "bucket_transfer";
  }
  return "?";
}

Recorder::Recorder(std::size_t capacity)
    : events_(std::bit_ceil(std::max<std::size_t>(capacity, 2))), mask_(events_.size() - 1) {}

std::vector<Event> Recorder::events() const {
  const std::int64_t kept = std::min(written_, static_cast<std::int64_t>(events_.size()));
  std::vector<Event> out;
  out.reserve(static_cast<std::size_t>(kept));
  for (std::int64_t i = written_ - kept; i < written_; ++i) out.push_back(events_[static_cast<std::size_t>(i) & mask_]);
  return out;
}

std::int64_t Recorder::lost() const {
  return std::max<std::int64_t>(0, written_ - static_cast<std::int64_t>(events_.size()));
}

}  // namespace ringmaster
