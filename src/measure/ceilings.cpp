// SPDX-License-Identifier: Apache-2.0
#include "measure/ceilings.hpp"

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/activity.hpp"
#include "base/clock.hpp"
#include "base/statistics.hpp"

namespace ringmaster::measure {
namespace {

constexpr int gemm_size = 1024;
constexpr std::size_t copy_bytes = std::size_t{64} << 20;
constexpr std::size_t flow_bytes = std::size_t{4} << 20;
constexpr double slow_flow_s = 0.1;
constexpr int flow_tag = 2;

/// Median over repetitions of what all ranks measure at the same time.
template <class Measure>
double together(transport::ProcessGroup& group, int repetitions, Measure measure) {
  measure();  // warm
  std::vector<double> seconds;
  for (int i = 0; i < repetitions; ++i) {
    group.barrier();
    seconds.push_back(measure());
    activity().touch();
  }
  group.barrier();
  return median(seconds);
}

double copy_rate(transport::ProcessGroup& group) {
  std::vector<std::byte> source(copy_bytes, std::byte{1});
  std::vector<std::byte> target(copy_bytes);
  const double seconds = together(group, 5, [&] {
    const Nanoseconds begin = now_ns();
    std::memcpy(target.data(), source.data(), copy_bytes);
    return to_seconds(now_ns() - begin);
  });
  double total = 0;
  for (const double rate : transport::gather_values(group, 2.0 * copy_bytes / seconds * 1e-9)) total += rate;
  return total;
}

/// One message from rank 0 to rank 1 and `back` bytes in answer; seconds of the round trip on rank 0.
class Flow {
 public:
  explicit Flow(transport::ProcessGroup& group)
      : group_(group), data_(flow_bytes), out_(group.make_request()), in_(group.make_request()) {}

  double round_trip(std::size_t there, std::size_t back) {
    const Nanoseconds begin = now_ns();
    if (group_.rank() == 0) {
      send(there, 1);
      receive(back, 1);
    } else if (group_.rank() == 1) {
      receive(there, 0);
      send(back, 0);
    }
    return to_seconds(now_ns() - begin);
  }

 private:
  void send(std::size_t bytes, int peer) {
    group_.post_send(std::span(data_).first(bytes), peer, flow_tag, *out_);
    transport::wait(group_, *out_);
  }
  void receive(std::size_t bytes, int peer) {
    group_.post_receive(std::span(data_).first(bytes), peer, flow_tag, *in_);
    transport::wait(group_, *in_);
  }
  transport::ProcessGroup& group_;
  std::vector<std::byte> data_;
  std::unique_ptr<transport::Request> out_;
  std::unique_ptr<transport::Request> in_;
};

/// Collective. Fewer samples over a slow link; rank 0 decides for all.
double bulk_time(Flow& flow, int rank, transport::ProcessGroup& group) {
  const double first = flow.round_trip(flow_bytes, 8);
  const int samples = transport::gather_values(group, rank == 0 && first > slow_flow_s ? 3 : 11).front();
  std::vector<double> seconds;
  for (int i = 0; i < samples; ++i) {
    seconds.push_back(flow.round_trip(flow_bytes, 8));
    activity().touch();
  }
  return median(seconds);
}

template <class Measure>
double median_of(int samples, Measure measure) {
  std::vector<double> seconds;
  for (int i = 0; i < samples; ++i) seconds.push_back(measure());
  return median(seconds);
}

}  // namespace

double measure_gemm(transport::ProcessGroup& group, double (*gemm_seconds)(int n)) {
  const double seconds = together(group, 3, [&] { return gemm_seconds(gemm_size); });
  const double rate = 2.0 * gemm_size * gemm_size * gemm_size / seconds * 1e-9;
  return mean(transport::gather_values(group, rate));
}

result::Ceilings measure_ceilings(transport::ProcessGroup& group, double (*gemm_seconds)(int n)) {
  activity().enter("measuring ceilings");
  result::Ceilings ceilings;
  ceilings.gemm_gflop_per_s = measure_gemm(group, gemm_seconds);
  ceilings.copy_gb_per_s = copy_rate(group);
  if (group.size() < 2) return ceilings;
  Flow flow(group);
  const double ping_pong = median_of(201, [&] { return flow.round_trip(8, 8); });
  const double bulk = bulk_time(flow, group.rank(), group);
  ceilings.pingpong_us = 0.5 * ping_pong * 1e6;
  ceilings.link_gb_per_s = static_cast<double>(flow_bytes) / (bulk - 0.5 * ping_pong) * 1e-9;
  group.barrier();
  return ceilings;
}

}  // namespace ringmaster::measure
