// SPDX-License-Identifier: Apache-2.0
// What every communicating subcommand needs around it: MPI, a watchdog that survives a killed neighbour, ranks that
// are proved to be alike, and one way out for every kind of failure.
#pragma once

#include <functional>
#include <string>

#include "measure/watchdog.hpp"
#include "transport/process_group.hpp"

namespace CLI {
class App;
}

namespace ringmaster::cli {

/// The folder into which an interruption is written, once there is one. Thread safe.
void set_interrupt_folder(const std::string& folder);

struct WorldOptions {
  double timeout_s = 60;   // of standstill
  int ranks_per_node = 0;  // pretended nodes; 0: nodes are hosts
};

/// Adds --ranks-per-node.
void add_node_option(CLI::App& app, int& ranks_per_node);

/// Starts MPI, checks that the ranks are of one build with the same arguments, and runs `body` on every rank under a
/// watchdog, whose timeout `body` may change. Returns its code. A user error that all ranks know ends in order with
/// code 2; any other failure names rank, host and activity and takes the job down.
int with_world(const WorldOptions& options,
               const std::function<int(transport::ProcessGroup&, measure::Watchdog&)>& body);

}  // namespace ringmaster::cli
