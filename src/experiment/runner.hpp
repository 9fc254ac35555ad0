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
  std::string output;  // the run's folder, the same on every rank
  bool overwrite = false;
  bool resume = false;
  std::vector<std::string> arguments;  // for the record
  int ranks_per_node = 0;              // the same: of pretended nodes; 0: nodes are hosts
  /// Rank 0: called after every block with done and total.
  std::function<void(int done, int total, const std::string& what)> progress;
};

/// Whether a setup has planted faults: its figures are no performance result.
bool planted(const Setup& setup);

/// "results/NAME", or "results/NAME-2", ... where that is taken.
std::string default_output(const std::string& name);

/// Collective over `world`. The result is complete on rank 0, empty elsewhere.
result::Run run(transport::ProcessGroup& world, const Config& config, const RunOptions& options);

}  // namespace ringmaster::experiment
