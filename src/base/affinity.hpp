// SPDX-License-Identifier: Apache-2.0
// What this process may use: processing units of its cpuset, and the name of its host.
#pragma once

#include <string>
#include <vector>

namespace ringmaster {

/// Processing units that this process may run on (its cpuset, as mpirun's binding left it).
std::vector<int> processing_units();

/// Processing units that exist online on this machine.
int machine_processing_units();

std::string host_name();

}  // namespace ringmaster
