// SPDX-License-Identifier: Apache-2.0
// A memory file (memfd): memory without a name in any file system, which other processes of the same user map through
// /proc. It needs no room in /dev/shm, and nothing of it stays behind, however its processes end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace ringmaster::transport::detail {

/// A mapping that unmaps itself. Empty for no bytes.
struct Mapping {
  std::span<std::byte> bytes;
  std::shared_ptr<void> owner;
};

/// Owns the descriptor; move only.
class MemoryFile {
 public:
  /// Throws SystemError where there is no memory for it.
  explicit MemoryFile(std::int64_t bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }
  /// The owner's mapping, with every page touched by the calling thread.
  Mapping map_mine() const;

 private:
  int descriptor_ = -1;
  std::int64_t bytes_ = 0;
};

/// Maps descriptor `descriptor` of process `process` (of this user, in this process namespace). Throws SystemError.
Mapping map_of(std::int64_t process, int descriptor, std::int64_t bytes);

}  // namespace ringmaster::transport::detail
