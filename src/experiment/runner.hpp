// SPDX-License-Identifier: Apache-2.0
// Runs a config: all points of a sweep in one mpirun, block by block in paired rounds, every block stored as it is
// measured.
#pragma once

#include <functional>
#include <string>

#include "experiment/config.hpp"
#include "result/schema.hpp"
#include "result/store.hpp"
#include "transport/process_group.hpp"

namespace ringmaster::experiment {

struct RunOptions {
  std::string output;                 // folder; "" : results/NAME-TIME
  bool overwrite = false;
  bool resume = false;
  std::vector<std::string> arguments; // for the record
  /// Rank 0: called after every block with done and total.
  std::function<void(int done, int total, const std::string& what)> progress;
};

/// Collective over `world`. The result is complete on rank 0, empty elsewhere.
result::Run run(transport::ProcessGroup& world, const Config& config, const RunOptions& options);

}  // namespace ringmaster::experiment
