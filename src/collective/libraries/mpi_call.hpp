// SPDX-License-Identifier: Apache-2.0
// What the two MPI allreduces share.
#pragma once

#include <mpi.h>

#include <string>

#include "collective/library.hpp"
#include "transport/mpi_check.hpp"

namespace ringmaster::collective::detail {

using transport::check_mpi;

/// "MPI_Allreduce (Open MPI 4.1.4, pml ob1, btl self,vader)".
std::string describe_mpi(const char* call);

Verdict has_communicator(const transport::ProcessGroup& group);

/// Arguments of an allreduce over these buffers. UserError where the count does not fit MPI's int.
struct MpiArguments {
  const void* input;  // MPI_IN_PLACE where input and output are the same
  void* output;
  int count;
  MPI_Datatype type;
  MPI_Comm comm;
};
MpiArguments mpi_arguments(const transport::ProcessGroup& group, const Buffers& buffers);

}  // namespace ringmaster::collective::detail
