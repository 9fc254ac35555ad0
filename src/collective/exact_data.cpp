// SPDX-License-Identifier: Apache-2.0
#include "collective/exact_data.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "kernels/reference/reduce.hpp"

namespace ringmaster::collective {
namespace {

using kernels::BFloat16;
using kernels::Float16;
using kernels::reference::Element;

constexpr std::int64_t period = 31;  // elements; a prime: no chunk or segment border meets it

/// Sums of so many ranks' vectors are held exactly: halves hold whole numbers up to 2048, bfloat16 up to 256, int8 up
/// to 127. (Past that integers wrap in ringmaster; Open MPI's may stop at the largest.)
template <class T>
constexpr int largest = sizeof(T) == 1 || std::is_same_v<T, BFloat16> ? 1
                        : std::is_same_v<T, Float16>                  ? 3
                                                                      : 15;
template <class T>
constexpr int smallest = std::is_same_v<T, std::uint8_t> ? 0 : -largest<T>;

template <class T>
T element(int rank, std::int64_t i, std::uint64_t salt) {
  const std::uint64_t mixed = static_cast<std::uint64_t>(rank) * 7 + static_cast<std::uint64_t>(i) * 13 + salt;
  const int whole = smallest<T> + static_cast<int>(mixed % period) % (largest<T> - smallest<T> + 1);
  return Element<T>::narrow(static_cast<typename Element<T>::Wide>(whole));
}

template <class T>
using Pattern = std::array<T, period>;

template <class T>
Pattern<T> pattern_of(int rank, std::uint64_t salt) {
  Pattern<T> pattern;
  for (std::int64_t i = 0; i < period; ++i) pattern[static_cast<std::size_t>(i)] = element<T>(rank, i, salt);
  return pattern;
}

template <class T, class Op>
T combined(const std::vector<const T*>& patterns, std::int64_t i, std::int64_t divisor) {
  return kernels::reference::combined<T, Op>(patterns.data(), static_cast<int>(patterns.size()), i, divisor);
}

template <class T>
Pattern<T> expected_of(Reduction reduction, int ranks, std::uint64_t salt) {
  std::vector<Pattern<T>> patterns;
  for (int rank = 0; rank < ranks; ++rank) patterns.push_back(pattern_of<T>(rank, salt));
  std::vector<const T*> sources;
  for (const Pattern<T>& pattern : patterns) sources.push_back(pattern.data());
  Pattern<T> expected;
  for (std::int64_t i = 0; i < period; ++i) {
    T& one = expected[static_cast<std::size_t>(i)];
    switch (reduction) {
      case Reduction::sum: one = combined<T, kernels::reference::Sum>(sources, i, 1); break;
      case Reduction::average: one = combined<T, kernels::reference::Sum>(sources, i, ranks); break;
      case Reduction::min: one = combined<T, kernels::reference::Min>(sources, i, 1); break;
      case Reduction::max: one = combined<T, kernels::reference::Max>(sources, i, 1); break;
    }
  }
  return expected;
}

/// The pattern again and again, as bytes: what begins at any whole period.
template <class T>
std::vector<std::byte> repeated(const Pattern<T>& pattern, std::int64_t times) {
  std::vector<std::byte> bytes(sizeof pattern * static_cast<std::size_t>(times));
  for (std::size_t at = 0; at < bytes.size(); at += sizeof pattern) std::memcpy(&bytes[at], &pattern, sizeof pattern);
  return bytes;
}

constexpr std::int64_t periods_a_block = 64;

template <class T>
void fill(std::span<std::byte> vector, int rank, std::uint64_t salt) {
  const std::vector<std::byte> block = repeated(pattern_of<T>(rank, salt), periods_a_block);
  while (!vector.empty()) {
    const std::size_t bytes = std::min(block.size(), vector.size());
    std::memcpy(vector.data(), block.data(), bytes);
    vector = vector.subspan(bytes);
  }
}

template <class T>
std::int64_t wrong_in(std::span<const std::byte> vector, Reduction reduction, int ranks, std::uint64_t salt) {
  const std::vector<std::byte> block = repeated(expected_of<T>(reduction, ranks, salt), periods_a_block);
  std::int64_t wrong = 0;
  while (!vector.empty()) {
    const std::size_t bytes = std::min(block.size(), vector.size());
    if (std::memcmp(vector.data(), block.data(), bytes) != 0) {
      for (std::size_t at = 0; at < bytes; at += sizeof(T)) {
        wrong += std::memcmp(&vector[at], &block[at], sizeof(T)) == 0 ? 0 : 1;
      }
    }
    vector = vector.subspan(bytes);
  }
  return wrong;
}

/// Calls `with` for the element type: `with.template operator()<T>()`.
template <class With>
auto with_type(DataType type, const With& with) {
  switch (type) {
    case DataType::float64: return with.template operator()<double>();
    case DataType::float16: return with.template operator()<Float16>();
    case DataType::bfloat16: return with.template operator()<BFloat16>();
    case DataType::int8: return with.template operator()<std::int8_t>();
    case DataType::uint8: return with.template operator()<std::uint8_t>();
    case DataType::int32: return with.template operator()<std::int32_t>();
    case DataType::int64: return with.template operator()<std::int64_t>();
    case DataType::float32: break;
  }
  return with.template operator()<float>();
}

}  // namespace

void fill_exact(std::span<std::byte> vector, DataType type, int rank, std::uint64_t salt) {
  with_type(type, [&]<class T>() { fill<T>(vector, rank, salt); });
}

std::int64_t count_wrong(std::span<const std::byte> vector, DataType type, Reduction reduction, int ranks,
                         std::uint64_t salt) {
  return with_type(type, [&]<class T>() { return wrong_in<T>(vector, reduction, ranks, salt); });
}

}  // namespace ringmaster::collective
