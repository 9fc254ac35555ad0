// SPDX-License-Identifier: Apache-2.0
// Room for the segments that MPI's shared-memory transport maps. Asked before MPI starts: a rank that finds no room
// falls back or dies of SIGBUS in the middle of a message.
#pragma once

#include <cstdint>
#include <string>

namespace ringmaster::transport::detail {

/// Folder in which this job's Open MPI will keep segments, from the launcher's environment; empty: it keeps none.
std::string segment_folder();

/// Throws UserError with the cure if `ranks` of one node do not fit into `free_bytes` of `folder`.
void require_segment_room(const std::string& folder, std::int64_t free_bytes, int ranks);

/// Both, for this process as it was launched.
void require_shared_memory();

}  // namespace ringmaster::transport::detail
