// SPDX-License-Identifier: Apache-2.0
// Who runs: the planned points less those that cannot run here (with the reason) and those that are the same
// schedule as an earlier one at this rank count (they share its row).
#pragma once

#include <vector>

#include "experiment/config.hpp"
#include "result/schema.hpp"
#include "transport/process_group.hpp"

namespace ringmaster::experiment {

/// `points[i]` describes `planned[i]`; `running` are the indices that are measured.
struct Lineup {
  std::vector<PlannedPoint> planned;
  std::vector<result::Point> points;
  std::vector<int> running;
};

/// Collective over `world` in that all ranks must call it alike.
Lineup line_up(transport::ProcessGroup& world, const Config& config);

}  // namespace ringmaster::experiment
