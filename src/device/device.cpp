// SPDX-License-Identifier: Apache-2.0
#include "device/device.hpp"

#include <sys/mman.h>

#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"

namespace ringmaster::device {
namespace {

constexpr std::int64_t huge_page = std::int64_t{2} << 20;

}  // namespace

Buffer::Buffer(std::int64_t bytes) : bytes_(bytes) {
  RINGMASTER_ASSERT(bytes >= 0, "a buffer of negative size");
  if (bytes == 0) return;
  const auto size = static_cast<std::size_t>(bytes);
  void* const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw_os_error("mmap", "a buffer of " + format_size(bytes) + " bytes");
  data_ = static_cast<std::byte*>(mapped);
  // Advice only: a kernel without huge pages runs as well, slower.
  if (bytes >= huge_page) madvise(mapped, size, MADV_HUGEPAGE);
  // Touched here, so that the pages lie near this thread and no step pays for the first touch.
  for (std::int64_t at = 0; at < bytes; at += 4096) data_[at] = std::byte{0};
}

Buffer::~Buffer() {
  if (data_ != nullptr) munmap(data_, static_cast<std::size_t>(bytes_));
}

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Verdict available(const std::string& name) {
  if (name == "auto" || name == "cpu") return Verdict::yes();
  if (name == "cuda") return Verdict::no("this build of ringmaster computes on CPUs only");
  return Verdict::no("unknown device '" + name + "' (" + suggestion(name, {"auto", "cpu", "cuda"}) + ")");
}

std::string resolve(const std::string& name) {
  if (const Verdict verdict = available(name); !verdict)
    throw UserError("device: " + verdict.reason, "device: auto takes what there is");
  return "cpu";
}

}  // namespace ringmaster::device
