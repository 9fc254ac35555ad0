// SPDX-License-Identifier: Apache-2.0
// Element types and reductions in MPI's terms. MPI 3.1 has no half types: they are two bytes to it, combined by a
// function of ringmaster's, pair by pair. It has no average either: that is a sum and a division of the result.
#pragma once

#include <mpi.h>

#include "base/data_type.hpp"

namespace ringmaster::collective::detail {

/// Live as long as MPI. Main thread.
MPI_Datatype mpi_type(DataType type);
MPI_Op mpi_operation(DataType type, Reduction reduction);

/// ", added by ringmaster's function"; empty for MPI's own types.
const char* added_by(DataType type);

}  // namespace ringmaster::collective::detail
