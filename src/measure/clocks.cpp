// SPDX-License-Identifier: Apache-2.0
#include "measure/clocks.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "base/statistics.hpp"

namespace ringmaster::measure {
namespace {

constexpr int ping_pongs = 100;
constexpr int clock_tag = 1;

struct Offset {
  double ns = 0;             // this rank's clock minus rank 0's
  double fastest_ns = 0;     // the same from the fastest ping-pong alone
  double round_trip_ns = 0;  // of the fastest ping-pong: half of it bounds the error
};

/// Ping-pongs between two ranks, the requests made once.
class Wire {
 public:
  explicit Wire(transport::ProcessGroup& group)
      : group_(group), sending_(group.make_request()), receiving_(group.make_request()) {}

  void send(const Nanoseconds& value, int peer) {
    group_.post_send(std::as_bytes(std::span(&value, 1)), peer, clock_tag, *sending_);
    transport::wait(group_, *sending_);
  }
  Nanoseconds receive(int peer) {
    Nanoseconds value = 0;
    group_.post_receive(std::as_writable_bytes(std::span(&value, 1)), peer, clock_tag, *receiving_);
    transport::wait(group_, *receiving_);
    return value;
  }

 private:
  transport::ProcessGroup& group_;
  std::unique_ptr<transport::Request> sending_;
  std::unique_ptr<transport::Request> receiving_;
};

/// Median offset of the quarter of the ping-pongs with the shortest round trips: what was delayed says nothing.
Offset estimate(Wire& wire, int peer) {
  std::vector<std::pair<double, double>> samples;  // round trip, offset
  for (int i = 0; i < ping_pongs; ++i) {
    const Nanoseconds sent = now_ns();
    wire.send(sent, peer);
    const Nanoseconds theirs = wire.receive(peer);
    const Nanoseconds back = now_ns();
    const auto trip = static_cast<double>(back - sent);
    samples.emplace_back(trip, static_cast<double>(theirs - sent) - 0.5 * trip);
  }
  std::sort(samples.begin(), samples.end());
  std::vector<double> offsets;
  for (int i = 0; i < ping_pongs / 4; ++i) offsets.push_back(samples[static_cast<std::size_t>(i)].second);
  return {median(offsets), samples.front().second, samples.front().first};
}

void answer(Wire& wire) {
  for (int i = 0; i < ping_pongs; ++i) {
    wire.receive(0);
    wire.send(now_ns(), 0);
  }
}

/// Collective. This rank's offset against rank 0; rank 0 measures them one after the other.
Offset offset_to_root(transport::ProcessGroup& group) {
  Wire wire(group);
  Offset mine;
  for (int peer = 1; peer < group.size(); ++peer) {
    Offset theirs;
    if (group.rank() == 0) theirs = estimate(wire, peer);
    if (group.rank() == peer) answer(wire);
    group.broadcast(std::as_writable_bytes(std::span(&theirs, 1)), 0);
    if (group.rank() == peer) mine = theirs;
  }
  return mine;
}

/// Differs between running kernels: ranks with one boot id read one CLOCK_MONOTONIC_RAW.
std::string boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace

ClockAlignment::ClockAlignment(transport::ProcessGroup& group) {
  const std::string root_boot = transport::broadcast_text(group, boot_id());
  const Offset first = offset_to_root(group);
  const Offset second = offset_to_root(group);
  // One kernel, and no time namespace that shifts the clock: a reading of the same clock lies within its round trip,
  // however busy the machine is.
  const bool shared =
      !root_boot.empty() && root_boot == boot_id() && std::fabs(second.fastest_ns) <= 0.5 * second.round_trip_ns;
  same_clock_ = shared;
  offset_ns_ = shared ? 0 : second.ns;
  reference_ = now_ns();
  const double residual_ns = shared ? std::fabs(second.ns) : std::fabs(second.ns - first.ns);
  for (const double r : transport::gather_values(group, residual_ns)) residual_s_ = std::max(residual_s_, r * 1e-9);
}

void ClockAlignment::refresh(transport::ProcessGroup& group) {
  const bool mine = same_clock_;
  const auto all = transport::gather_values(group, static_cast<int>(mine));
  if (std::all_of(all.begin(), all.end(), [](int shared) { return shared != 0; })) return;
  const Offset now = offset_to_root(group);
  const Nanoseconds at = now_ns();
  double residual_ns = 0;
  if (!same_clock_) {
    const double predicted = offset_ns_ + drift_ * static_cast<double>(at - reference_);
    residual_ns = std::fabs(now.ns - predicted);
    drift_ = (now.ns - offset_ns_) / static_cast<double>(std::max<Nanoseconds>(at - reference_, 1));
    offset_ns_ = now.ns;
    reference_ = at;
  }
  residual_s_ = 0;
  for (const double r : transport::gather_values(group, residual_ns)) residual_s_ = std::max(residual_s_, r * 1e-9);
}

Nanoseconds ClockAlignment::to_common(Nanoseconds local) const {
  if (same_clock_) return local;
  const double offset = offset_ns_ + drift_ * static_cast<double>(local - reference_);
  return local - static_cast<Nanoseconds>(std::llround(offset));
}

}  // namespace ringmaster::measure
