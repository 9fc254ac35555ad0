// SPDX-License-Identifier: Apache-2.0
// What a result must say about where it was measured: machine, versions, and the settings that change timings.
#pragma once

#include <string>
#include <vector>

#include "experiment/budget.hpp"
#include "result/schema.hpp"

namespace ringmaster::experiment {

/// Of this rank's machine; `places` are all ranks'.
result::Machine machine_facts(const std::vector<RankPlace>& places);

/// "2026-01-31T12:00:00Z".
std::string utc_now();

/// Stamps that spoil a timing: pretended nodes (0: nodes are hosts), yield_when_idle, other load on the first rank's
/// host at the start. May be empty.
std::vector<std::string> timing_stamps(const result::Machine& machine, int ranks_per_node);

}  // namespace ringmaster::experiment
