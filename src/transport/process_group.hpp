// SPDX-License-Identifier: Apache-2.0
// The ranks that work together, and how bytes move between two of them. Two implementations: ranks that are
// threads of one process (tests, TSan, the debugger) and MPI.
//
// Two planes. The control plane (barrier, broadcast, all_gather, split) is collective, blocking and never timed.
// The data plane is point to point and non-blocking: post, then test. Messages between two ranks with the same tag
// match in the order in which they were posted. Data-plane calls come from one thread at a time.
// Every failure is a SystemError; sizes are 64-bit and converted at one checked place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/spec.hpp"
#include "transport/node_memory.hpp"

namespace ringmaster::transport {

/// A posted message. Slots are owned by the caller and reused; posting into a slot in use is an assertion.
class Request {
 public:
  virtual ~Request() = default;
};

class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual const char* transport_name() const = 0;  // "threads", "mpi"

  /// Largest tag that may be used.
  virtual int highest_tag() const = 0;
  /// A reusable request for this group (allocate before timing).
  virtual std::unique_ptr<Request> make_request() = 0;
  virtual void post_send(std::span<const std::byte> data, int peer, int tag, Request& request) = 0;
  virtual void post_receive(std::span<std::byte> data, int peer, int tag, Request& request) = 0;
  /// True once, when the message is complete (the request may then be reused); false while it is not.
  virtual bool test(Request& request) = 0;
  /// Moves messages on for a rank that waits for something else: one that was complete for its sender may still lie in
  /// a library's queue, and others may wait for it.
  virtual void progress() = 0;

  /// Collective over the group.
  virtual void barrier() = 0;
  /// Collective over the group. Everyone's `data` has the same size.
  virtual void broadcast(std::span<std::byte> data, int root) = 0;
  /// Collective over the group. Contributions of any size, in rank order.
  virtual std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) = 0;
  /// Collective over the group. Ranks with equal color (>= 0) form a group ordered by (key, rank); negative: null.
  virtual std::unique_ptr<ProcessGroup> split(int color, int key) = 0;
  /// The node of each rank, numbered from 0 in the order of their first ranks.
  virtual const std::vector<int>& nodes() const = 0;
  int node_count() const;
  /// Whether all ranks are on one node and so can share memory, with the reason if not.
  virtual Verdict shares_memory() const;
  /// Collective over the group. Memory that the ranks of each node share; `bytes` may differ by rank. Throws
  /// SystemError on every rank if any rank finds no memory or may not map another's.
  virtual NodeMemory share(std::int64_t bytes) = 0;
  /// Collective over the group. A group of the same ranks with its own message space.
  std::unique_ptr<ProcessGroup> duplicate() { return split(0, rank()); }
};

/// Numbers nodes from 0 in the order of their first ranks; ranks with equal marks are on one node.
std::vector<int> number_nodes(std::span<const std::int64_t> marks);

/// Returns when the message is complete; yields the processing unit meanwhile.
void wait(ProcessGroup& group, Request& request);

/// Collective over `group`. Text from `root` to everyone.
std::string broadcast_text(ProcessGroup& group, const std::string& text, int root = 0);
/// Collective over `group`. One value a rank, in rank order. T is trivially copyable.
template <class T>
std::vector<T> gather_values(ProcessGroup& group, const T& mine);
/// Collective over `group`. Vectors of any length, in rank order.
template <class T>
std::vector<std::vector<T>> gather_vectors(ProcessGroup& group, std::span<const T> mine);

}  // namespace ringmaster::transport

#include "transport/detail/gather.hpp"
