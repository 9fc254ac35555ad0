// SPDX-License-Identifier: Apache-2.0
#include "transport/process_group.hpp"

#include <thread>

namespace ringmaster::transport {

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
