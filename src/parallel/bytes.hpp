// SPDX-License-Identifier: Apache-2.0
// Values to bytes and back, for saved state. Little-endian machines only, as everything on the wire.
// Reading is checked: what is shorter than it says is damaged (false), never read beyond its end.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace ringmaster::parallel {

static_assert(std::endian::native == std::endian::little);

class ByteWriter {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_bytes(std::as_bytes(std::span(&value, 1)));
  }
  void put_bytes(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  bool get(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return get_bytes(std::as_writable_bytes(std::span(&value, 1)));
  }
  bool get_bytes(std::span<std::byte> out) {
    if (out.size() > rest_.size()) return false;
    if (!out.empty()) std::memcpy(out.data(), rest_.data(), out.size());
    rest_ = rest_.subspan(out.size());
    return true;
  }
  std::size_t left() const { return rest_.size(); }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace ringmaster::parallel
