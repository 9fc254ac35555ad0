// SPDX-License-Identifier: Apache-2.0
// Ranks as threads of one process: for tests, the debugger and ThreadSanitizer.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "transport/process_group.hpp"

namespace ringmaster::transport {

/// Runs `body` on `ranks` threads, each with its own group, and joins them. The first exception of any rank is
/// rethrown after all ended (ranks that wait for a failed one fail with SystemError instead of hanging).
void run_as_threads(int ranks, const std::function<void(ProcessGroup&)>& body);
/// The same, with ranks that say that they are on these nodes (equal numbers: one node).
void run_as_threads_on(const std::vector<int>& nodes, const std::function<void(ProcessGroup&)>& body);

/// A planted slow link (config section plant): a message takes at least latency_s + bytes / bytes_per_s. Wraps any
/// group: sends leave when their time has come, to each peer over a link of its own. Groups split off are limited
/// alike, over links of their own.
struct LinkLimit {
  double latency_s = 0;
  double bytes_per_s = 0;  // 0: unlimited
};
std::unique_ptr<ProcessGroup> limit_links(ProcessGroup& group, const LinkLimit& limit);

}  // namespace ringmaster::transport
