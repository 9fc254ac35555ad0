// SPDX-License-Identifier: Apache-2.0
#include "account/intervals.hpp"

#include <algorithm>

namespace ringmaster::account {

TimeSet union_of(std::vector<TimeInterval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const TimeInterval& a, const TimeInterval& b) { return a.begin < b.begin; });
  TimeSet set;
  for (const TimeInterval& interval : intervals) {
    if (interval.end <= interval.begin) continue;
    if (!set.empty() && interval.begin <= set.back().end) {
      set.back().end = std::max(set.back().end, interval.end);
    } else {
      set.push_back(interval);
    }
  }
  return set;
}

TimeSet intersection(const TimeSet& a, const TimeSet& b) {
  TimeSet common;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const TimeInterval both{std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
    if (both.begin < both.end) common.push_back(both);
    if (a[i].end < b[j].end) {
      ++i;
    } else {
      ++j;
    }
  }
  return common;
}

Nanoseconds length(const TimeSet& set) {
  Nanoseconds sum = 0;
  for (const TimeInterval& interval : set) sum += interval.end - interval.begin;
  return sum;
}

}  // namespace ringmaster::account
