// SPDX-License-Identifier: Apache-2.0
// Sets of time as sorted, disjoint half-open intervals [begin, end). Internal to `account`.
#pragma once

#include <vector>

#include "base/clock.hpp"

namespace ringmaster::account {

struct TimeInterval {
  Nanoseconds begin = 0;
  Nanoseconds end = 0;
};
using TimeSet = std::vector<TimeInterval>;

/// Sorted and merged; empty intervals go.
TimeSet union_of(std::vector<TimeInterval> intervals);
TimeSet intersection(const TimeSet& a, const TimeSet& b);
Nanoseconds length(const TimeSet& set);

}  // namespace ringmaster::account
