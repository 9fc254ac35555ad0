// SPDX-License-Identifier: Apache-2.0
// What lets the compiler vectorise: clones of a function for wider processors, chosen when the program starts, and an
// exponential without branches. Sums run in a fixed number of lanes, in a fixed order, whatever the vector width.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

// Sanitizers' runtimes are not up yet when clones are chosen, and clang 14 does not know the levels.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define RINGMASTER_CLONES [[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#else
#define RINGMASTER_CLONES
#endif

namespace ringmaster::tensor {

inline constexpr std::int64_t lanes = 16;

/// exp within 2 units in the last place for x in [-87, 88]; clamped outside.
[[gnu::always_inline]] inline float fast_exp(float x) {
  x = x < -87.0F ? -87.0F : x;
  x = x > 88.0F ? 88.0F : x;
  const float shifted = x * 1.44269504F + 12582912.0F;  // the integer stands in the low bits
  const float n = shifted - 12582912.0F;
  const std::int32_t exponent = std::bit_cast<std::int32_t>(shifted) - 0x4B400000;
  const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  return p * std::bit_cast<float>((exponent + 127) * (1 << 23));
}
[[gnu::always_inline]] inline double fast_exp(double x) { return std::exp(x); }

/// Adds up lanes pairwise.
template <class T>
[[gnu::always_inline]] inline T add_lanes(const T* sums) {
  T half[lanes / 2];
  for (std::int64_t j = 0; j < lanes / 2; ++j) half[j] = sums[j] + sums[j + lanes / 2];
  for (std::int64_t width = lanes / 4; width >= 1; width /= 2) {
    for (std::int64_t j = 0; j < width; ++j) half[j] += half[j + width];
  }
  return half[0];
}

/// Sum of f(i) over [0, n).
template <class T, class F>
[[gnu::always_inline]] inline T lane_sum(std::int64_t n, F f) {
  T sums[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    for (std::int64_t j = 0; j < lanes; ++j) sums[j] += f(i + j);
  }
  T rest = 0;
  for (; i < n; ++i) rest += f(i);
  return add_lanes(sums) + rest;
}

}  // namespace ringmaster::tensor
