// SPDX-License-Identifier: Apache-2.0
// What measuring itself costs, and what disturbed it.
#pragma once

#include <cstdint>

namespace ringmaster::measure {

/// Times that the scheduler took the processing unit away from the calling thread, since it began.
std::int64_t involuntary_switches();

/// Seconds that recording one event (two clock reads and a store) costs here: median of several batches.
double event_cost_s();

}  // namespace ringmaster::measure
