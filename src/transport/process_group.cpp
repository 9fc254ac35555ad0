// SPDX-License-Identifier: Apache-2.0
#include "transport/process_group.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <thread>

namespace ringmaster::transport {

std::vector<int> number_nodes(std::span<const std::int64_t> marks) {
  std::vector<std::int64_t> known;
  std::vector<int> nodes;
  for (const std::int64_t mark : marks) {
    const auto at = std::find(known.begin(), known.end(), mark);
    nodes.push_back(static_cast<int>(at - known.begin()));
    if (at == known.end()) known.push_back(mark);
  }
  return nodes;
}

int ProcessGroup::node_count() const { return *std::max_element(nodes().begin(), nodes().end()) + 1; }

Verdict ProcessGroup::shares_memory() const {
  const auto here = std::count(nodes().begin(), nodes().end(), nodes()[static_cast<std::size_t>(rank())]);
  if (here == size()) return Verdict::yes();
  return Verdict::no(fmt::format("shared memory needs all ranks on one node; here are {} of {}", here, size()));
}

void wait(ProcessGroup& group, Request& request) {
  while (!group.test(request)) std::this_thread::yield();
}

std::string broadcast_text(ProcessGroup& group, const std::string& text, int root) {
  auto size = static_cast<std::uint64_t>(text.size());
  group.broadcast(std::as_writable_bytes(std::span(&size, 1)), root);
  std::string all = group.rank() == root ? text : std::string(size, '\0');
  group.broadcast(std::as_writable_bytes(std::span(all.data(), all.size())), root);
  return all;
}

}  // namespace ringmaster::transport
