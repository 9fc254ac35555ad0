// SPDX-License-Identifier: Apache-2.0
// Where tensors live: which devices there are (this version: the cpu only), and memory of theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/spec.hpp"

namespace ringmaster::device {

/// Page-aligned memory, zeroed (and so first touched) by the thread that made it. Move only.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::int64_t size() const { return bytes_; }
  std::byte* data() const { return data_; }
  std::span<std::byte> bytes() const { return {data_, static_cast<std::size_t>(bytes_)}; }
  template <class T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(data_), static_cast<std::size_t>(bytes_) / sizeof(T)};
  }

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// Whether `name` ("auto", "cpu", "cuda") can be used here, with the reason if not.
Verdict available(const std::string& name);
/// "auto" resolved to what is here.
std::string resolve(const std::string& name);

}  // namespace ringmaster::device
