// SPDX-License-Identifier: Apache-2.0
// The shared-memory executor: ranks of a node run a schedule's dataflow on each other's memory, without messages. A
// rank publishes how many steps it has done on a cache line of its own; a step waits until the ranks that it depends
// on have come so far. Vectors that do not lie in shared memory go through the executor's own, segment by segment.
#pragma once

#include <memory>

#include "collective/executor.hpp"
#include "collective/operation.hpp"
#include "schedule/schedule.hpp"
#include "transport/process_group.hpp"

namespace ringmaster::collective {

/// Prepares a schedule over buffers. Collective over `group`, which must share memory; all ranks prepare the same. Of
/// the options only the segment counts.
std::unique_ptr<Operation> make_shared_operation(transport::ProcessGroup& group, const schedule::Schedule& schedule,
                                                 const Buffers& buffers, const ExecutorOptions& options);

}  // namespace ringmaster::collective
