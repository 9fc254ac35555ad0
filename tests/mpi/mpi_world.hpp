// SPDX-License-Identifier: Apache-2.0
// The world of an MPI test program.
#pragma once

#include "transport/mpi.hpp"

namespace ringmaster::test {

/// The group of all ranks; every test uses it collectively.
transport::ProcessGroup& world();

}  // namespace ringmaster::test
