// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi_check.hpp"

#include <fmt/core.h>
#include <mpi.h>

#include <array>
#include <string>

#include "base/error.hpp"

namespace ringmaster::transport {

static_assert(MPI_SUCCESS == 0);

void fail_mpi(int code, const char* call, int peer) {
  std::array<char, MPI_MAX_ERROR_STRING> reason{};
  int length = 0;
  MPI_Error_string(code, reason.data(), &length);
  const std::string subject = peer == no_peer ? std::string(call) : fmt::format("{} with rank {}", call, peer);
  throw SystemError("mpi", code, subject, {reason.data(), static_cast<std::size_t>(length)});
}

}  // namespace ringmaster::transport
