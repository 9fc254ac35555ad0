// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "transport/detail/memory_file.hpp"
#include "transport/node_memory.hpp"

namespace ringmaster::transport {

std::int64_t NodeMemory::offset_of(std::span<const std::byte> data) const {
  const std::span<const std::byte> part = mine();
  const bool inside = data.data() >= part.data() && data.data() + data.size() <= part.data() + part.size();
  return inside ? data.data() - part.data() : -1;
}

namespace detail {
namespace {

constexpr std::int64_t huge_page = std::int64_t{2} << 20;

Mapping map(int descriptor, std::int64_t bytes, int flags) {
  if (bytes == 0) return {};
  const auto size = static_cast<std::size_t>(bytes);
  void* const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | flags, descriptor, 0);
  if (mapped == MAP_FAILED) throw_os_error("mmap", "shared memory of " + format_size(bytes) + " bytes");
  // Advice only: most kernels have no huge pages for shared memory.
  if (bytes >= huge_page) madvise(mapped, size, MADV_HUGEPAGE);
  return {{static_cast<std::byte*>(mapped), size}, {mapped, [size](void* at) { munmap(at, size); }}};
}

}  // namespace

MemoryFile::MemoryFile(std::int64_t bytes) : descriptor_(memfd_create("ringmaster", MFD_CLOEXEC)), bytes_(bytes) {
  if (descriptor_ < 0) throw_os_error("memfd_create", "");
  if (ftruncate(descriptor_, bytes) != 0) {
    close(descriptor_);
    throw_os_error("ftruncate", "shared memory of " + format_size(bytes) + " bytes");
  }
}

MemoryFile::~MemoryFile() { close(descriptor_); }

Mapping MemoryFile::map_mine() const {
  Mapping mapping = map(descriptor_, bytes_, 0);
  for (std::size_t at = 0; at < mapping.bytes.size(); at += 4096) mapping.bytes[at] = std::byte{0};
  return mapping;
}

Mapping map_of(std::int64_t process, int descriptor, std::int64_t bytes) {
  if (bytes == 0) return {};
  const std::string path = fmt::format("/proc/{}/fd/{}", process, descriptor);
  const int opened = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (opened < 0) throw_os_error("open", path);
  struct Closer {
    int descriptor;
    ~Closer() { close(descriptor); }
  } const closer{opened};
  return map(opened, bytes, MAP_POPULATE);
}

}  // namespace detail
}  // namespace ringmaster::transport
