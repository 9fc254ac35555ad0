// SPDX-License-Identifier: Apache-2.0
#include "measure/cost.hpp"

#include <sys/resource.h>

#include <vector>

#include "base/error.hpp"
#include "base/recorder.hpp"
#include "base/statistics.hpp"

namespace ringmaster::measure {

std::int64_t involuntary_switches() {
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) != 0) throw_os_error("getrusage", "");
  return usage.ru_nivcsw;
}

double event_cost_s() {
  constexpr int batches = 9;
  constexpr int events = 2000;
  Recorder recorder(1U << 12U);
  std::vector<double> seconds;
  for (int batch = 0; batch < batches; ++batch) {
    const Nanoseconds begin = now_ns();
    for (int i = 0; i < events; ++i) const Scope scope(recorder, Label::other, i);
    seconds.push_back(to_seconds(now_ns() - begin) / events);
  }
  return median(seconds);
}

}  // namespace ringmaster::measure
