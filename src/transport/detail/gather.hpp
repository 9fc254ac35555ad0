// SPDX-License-Identifier: Apache-2.0
// Templates of process_group.hpp.
#pragma once

#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "transport/process_group.hpp"

namespace ringmaster::transport {

template <class T>
std::vector<std::vector<T>> gather_vectors(ProcessGroup& group, std::span<const T> mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto parts = group.all_gather(std::as_bytes(mine));
  std::vector<std::vector<T>> result(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    result[i].resize(parts[i].size() / sizeof(T));
    if (!result[i].empty()) std::memcpy(result[i].data(), parts[i].data(), result[i].size() * sizeof(T));
  }
  return result;
}

template <class T>
std::vector<T> gather_values(ProcessGroup& group, const T& mine) {
  std::vector<T> values;
  for (auto& part : gather_vectors(group, std::span<const T>(&mine, 1))) values.push_back(part.front());
  return values;
}

}  // namespace ringmaster::transport
