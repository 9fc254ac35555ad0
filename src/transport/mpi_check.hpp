// SPDX-License-Identifier: Apache-2.0
// The one place where MPI's return codes become errors.
#pragma once

namespace ringmaster::transport {

constexpr int no_peer = -1;

/// Throws SystemError "mpi: CALL with rank PEER failed: REASON".
[[noreturn]] void fail_mpi(int code, const char* call, int peer);

/// MPI_SUCCESS is 0 by the standard; this header needs no mpi.h.
inline void check_mpi(int code, const char* call, int peer = no_peer) {
  if (code != 0) fail_mpi(code, call, peer);
}

}  // namespace ringmaster::transport
