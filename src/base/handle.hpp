// SPDX-License-Identifier: Apache-2.0
// Owner of a C library's handle: move only, destroys what it owns.
//
//   struct Traits { using type = hwloc_topology_t; static type null() ...; static void destroy(type) noexcept; };
#pragma once

#include <utility>

namespace ringmaster {

template <class Traits>
class Handle {
 public:
  using Type = typename Traits::type;

  Handle() = default;
  explicit Handle(Type value) : value_(value) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : value_(other.release()) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      value_ = other.release();
    }
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  Type get() const { return value_; }
  /// For C functions that fill a handle. The handle must be empty.
  Type* out() { return &value_; }
  Type release() { return std::exchange(value_, Traits::null()); }
  void reset() noexcept {
    if (value_ != Traits::null()) Traits::destroy(release());
  }

 private:
  Type value_ = Traits::null();
};

}  // namespace ringmaster
