// SPDX-License-Identifier: Apache-2.0
// MPI under the interface of ProcessGroup. The world is started once in main; MPI_ERRORS_RETURN is set, so that
// every return code is really checked, at one place (`check`). No mpi.h in this header.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transport/process_group.hpp"

namespace ringmaster::transport {

/// Starts MPI and finalizes it when destroyed (unless the job is being torn down). With `ranks_per_node`, so many
/// consecutive ranks of a host are taken for a node of their own (0: nodes are hosts).
class MpiSession {
 public:
  MpiSession(int* argc, char*** argv, int ranks_per_node = 0);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  ProcessGroup& world() { return *world_; }

 private:
  std::unique_ptr<ProcessGroup> world_;
};

/// The MPI_Comm* of a group, as an untyped pointer; null for groups that are not MPI's.
void* native_communicator(const ProcessGroup& group);

/// "serialized": what MPI_Init_thread gave.
std::string mpi_thread_level();

/// Ends the whole job with this code, from any thread.
[[noreturn]] void abort_job(int code);

/// How MPI is set up: library version, and control variables that decide what a timing means.
struct MpiFacts {
  std::string library;  // "Open MPI 4.1.4"
  std::string thread_level;
  std::vector<std::pair<std::string, std::string>> settings;  // pml, btl, yield_when_idle, coll_tuned..., from MPI_T
};
MpiFacts mpi_facts();

/// The size of the world that a launcher promised in the environment (OMPI_COMM_WORLD_SIZE, PMI_SIZE,
/// PMIX_SIZE, SLURM_STEP_NUM_TASKS) or 0. Differs from the world's size when mpirun and library are of different MPIs:
/// processes started alone.
int promised_world_size();

}  // namespace ringmaster::transport
