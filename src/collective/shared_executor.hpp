// SPDX-License-Identifier: Apache-2.0
// The shared-memory executor: ranks of a node run a schedule's dataflow on each other's memory, without messages; what
// goes from node to node is a message (the *mixed* executor: the same, over ranks of several nodes). A rank publishes
// how many steps it has done on a cache line of its own; a step waits until the ranks that it depends on have come so
// far. Vectors that do not lie in shared memory go through the executor's own, segment by segment.
#pragma once

#include <memory>

#include "collective/executor.hpp"
#include "collective/operation.hpp"
#include "schedule/schedule.hpp"
#include "transport/process_group.hpp"

namespace ringmaster::collective {

/// Prepares a schedule over buffers. Collective over `group`; all ranks prepare the same. The tags are for messages
/// between nodes: tags_needed() of them.
std::unique_ptr<Operation> make_shared_operation(transport::ProcessGroup& group, const schedule::Schedule& schedule,
                                                 const Buffers& buffers, const ExecutorOptions& options);

}  // namespace ringmaster::collective
