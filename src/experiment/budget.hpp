// SPDX-License-Identifier: Apache-2.0
// The thread budget: compute + engine + loader threads of a rank must fit into its processing units. Decides whether
// the engine has its own thread, how many loaders run, and whether waiting may spin.
#pragma once

#include <string>
#include <vector>

#include "experiment/config.hpp"
#include "transport/process_group.hpp"

namespace ringmaster::experiment {

/// Where one rank may run.
struct RankPlace {
  std::string host;
  std::vector<int> units;  // processing units of its cpuset
};

/// Collective over `group`. Every rank's place, in rank order.
std::vector<RankPlace> gather_places(transport::ProcessGroup& group);

/// Processing units that each rank can count on: its cpuset divided among the ranks of its host that share it.
/// 0 where there are more ranks than units.
std::vector<int> units_per_rank(const std::vector<RankPlace>& places);

struct ThreadBudget {
  int compute = 1;
  collective::EngineMode engine = collective::EngineMode::inline_progress;
  int loaders = 0;
  collective::Waiting waiting = collective::Waiting::yield;
  int units = 0;  // the poorest rank's
  bool oversubscribed = false;
  std::string stamp() const;  // "" or "oversubscribed: ... not a performance result"
};

/// What a point gets, from the poorest rank's units (so that every rank decides alike).
ThreadBudget plan_threads(const Setup& setup, const std::vector<int>& units);

}  // namespace ringmaster::experiment
