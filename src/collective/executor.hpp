// SPDX-License-Identifier: Apache-2.0
// The message executor: runs a schedule over point-to-point messages of any ProcessGroup. The vector is cut into
// segments that follow each other through the rounds, a few in flight; a run allocates, locks and formats nothing.
#pragma once

#include <memory>

#include "collective/operation.hpp"
#include "schedule/schedule.hpp"
#include "transport/process_group.hpp"

namespace ringmaster::collective {

struct ExecutorOptions {
  std::int64_t segment_bytes = 0;  // 0: see default_segment_bytes
  int first_tag = 0;               // uses tags_needed() of them
};

/// Message tags that an operation over this schedule takes.
int tags_needed(const schedule::Schedule& schedule);

/// Of a lane with so many chunks: a chunk's message should stay in a core's cache until it has been added.
std::int64_t default_segment_bytes(std::int64_t chunks);

/// Prepares a schedule over buffers. All ranks of `group` must prepare the same.
std::unique_ptr<Operation> make_schedule_operation(transport::ProcessGroup& group, const schedule::Schedule& schedule,
                                                   const Buffers& buffers, const ExecutorOptions& options);

}  // namespace ringmaster::collective
