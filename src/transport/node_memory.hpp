// SPDX-License-Identifier: Apache-2.0
// Memory that the ranks of a node read and write: what the shared-memory executor calls registered. Made by
// ProcessGroup::share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ringmaster::transport {

/// One part a rank of the group, each page-aligned, zeroed and first touched by its owner; those of the node's ranks
/// are mapped in each of them, those of other nodes' ranks are empty. Who uses it orders the accesses. Give it back
/// only when no rank uses a part any more: other ranks' mappings stay valid as long as they hold theirs.
class NodeMemory {
 public:
  NodeMemory() = default;
  NodeMemory(int rank, std::vector<std::span<std::byte>> parts, std::vector<std::shared_ptr<void>> owners)
      : rank_(rank), parts_(std::move(parts)), owners_(std::move(owners)) {}

  std::span<std::byte> part(int rank) const { return parts_[static_cast<std::size_t>(rank)]; }
  std::span<std::byte> mine() const { return parts_.empty() ? std::span<std::byte>() : part(rank_); }
  /// Where `data` begins in this rank's part; -1 if it does not lie in it.
  std::int64_t offset_of(std::span<const std::byte> data) const;

 private:
  int rank_ = 0;
  std::vector<std::span<std::byte>> parts_;
  std::vector<std::shared_ptr<void>> owners_;  // mappings, or the memory itself
};

}  // namespace ringmaster::transport
