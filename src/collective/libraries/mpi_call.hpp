// SPDX-License-Identifier: Apache-2.0
// What the allreduces of an MPI library share.
#pragma once

#include <mpi.h>

#include <memory>
#include <span>
#include <string>

#include "collective/library.hpp"
#include "kernels/cpu/reduce.hpp"
#include "transport/mpi_check.hpp"

namespace ringmaster::collective::detail {

using transport::check_mpi;

/// "Open MPI 4.1.4, pml ob1, btl self,vader, single copy cma, bound to 1 of 16 processing units": what carries the
/// messages, where this rank may run, and who adds where MPI cannot.
std::string carried_by(DataType type);

/// ", forced to ring": what the user's own settings put in the place of Open MPI's table; mostly empty.
std::string decided_by_user();

/// "Open MPI 4.1.4".
const std::string& library_name();

Verdict has_communicator(const transport::ProcessGroup& group);
/// Of what can be chosen in Open MPI only: no without it, and no for one rank, where there is nothing to choose.
Verdict has_open_mpi(const transport::ProcessGroup& group);

/// Shared by an allreduce and its operations; freed with the last of them (on all ranks, in the same order).
using Communicator = std::shared_ptr<const MPI_Comm>;
/// The group's own.
Communicator borrowed(const transport::ProcessGroup& group);
/// A duplicate on which `component` of Open MPI's coll framework goes before the others, whatever their priorities.
/// Collective over the group.
Communicator duplicate_preferring(const char* component, const transport::ProcessGroup& group);

/// Arguments of an allreduce over these buffers. UserError where the count does not fit MPI's int.
struct MpiArguments {
  const void* input;  // MPI_IN_PLACE where input and output are the same
  void* output;
  int count;
  MPI_Datatype type;
  MPI_Op operation;
  Communicator comm;
  std::span<std::byte> result;
  kernels::Arithmetic division;  // what is left to do to the result

  /// Of an average; else nothing.
  void divide() const;
};
MpiArguments mpi_arguments(Communicator comm, const Buffers& buffers);

/// MPI_Allreduce.
std::unique_ptr<Operation> make_blocking_allreduce(Communicator comm, const Buffers& buffers);

}  // namespace ringmaster::collective::detail
