// SPDX-License-Identifier: Apache-2.0
// Element types in scalar arithmetic, for host and device: half precision as bits, what each type is added in (its wide
// type), and rounding back. Pure functions; thread safe. None of them depends on whether denormals are flushed.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "base/data_type.hpp"

#if defined(__CUDACC__)
#define RINGMASTER_HOST_DEVICE __host__ __device__
#else
#define RINGMASTER_HOST_DEVICE
#endif

namespace ringmaster::kernels {

/// IEEE 754 binary16.
struct Float16 {
  std::uint16_t bits = 0;
};
/// The upper half of a binary32.
struct BFloat16 {
  std::uint16_t bits = 0;
};

namespace reference {

// Constants of binary32 that the conversions are made of.
inline constexpr std::uint32_t sign_bit = 0x80000000U;
inline constexpr std::uint32_t infinity_bits = 0x7f800000U;
inline constexpr std::uint32_t half_bits = 0x3f000000U;  // 0.5: its last bit is worth 2^-24, as a denormal half's

RINGMASTER_HOST_DEVICE constexpr float widen(BFloat16 x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16U); }

/// Exact.
RINGMASTER_HOST_DEVICE constexpr float widen(Float16 x) {
  const std::uint32_t sign = (std::uint32_t{x.bits} & 0x8000U) << 16U;
  const std::uint32_t magnitude = std::uint32_t{x.bits} & 0x7fffU;
  // Exponents are 112 apart; infinity and NaN are the largest of each.
  const std::uint32_t normal = (magnitude << 13U) + (112U << 23U);
  const std::uint32_t special = normal + (112U << 23U);
  const auto denormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(half_bits + magnitude) - 0.5F);
  const std::uint32_t finite = magnitude < 0x0400U ? denormal : normal;
  return std::bit_cast<float>((magnitude < 0x7c00U ? finite : special) | sign);
}

/// To the nearest, ties to even; NaN stays NaN.
RINGMASTER_HOST_DEVICE constexpr BFloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U;
  const std::uint32_t quiet = (bits >> 16U) | 0x40U;
  return {static_cast<std::uint16_t>((bits & ~sign_bit) > infinity_bits ? quiet : rounded)};
}

/// To the nearest, ties to even; from 65520 on infinity; NaN stays NaN.
RINGMASTER_HOST_DEVICE constexpr Float16 to_float16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits & sign_bit) >> 16U;
  const std::uint32_t magnitude = bits & ~sign_bit;
  const std::uint32_t normal = (magnitude - (112U << 23U) + 0xfffU + ((magnitude >> 13U) & 1U)) >> 13U;
  // The addition rounds where a half's denormals end.
  const std::uint32_t denormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - half_bits;
  const std::uint32_t special = magnitude > infinity_bits ? 0x7e00U | ((magnitude >> 13U) & 0x3ffU) : 0x7c00U;
  const std::uint32_t finite = magnitude < 0x38800000U ? denormal : normal;
  return {static_cast<std::uint16_t>((magnitude < 0x477ff000U ? finite : special) | sign)};
}

/// What elements of a type are added in.
template <class T>
struct Element {
  using Wide = T;
  RINGMASTER_HOST_DEVICE static constexpr Wide widen(T x) { return x; }
  RINGMASTER_HOST_DEVICE static constexpr T narrow(Wide x) { return x; }
};
template <>
struct Element<BFloat16> {
  using Wide = float;
  RINGMASTER_HOST_DEVICE static constexpr Wide widen(BFloat16 x) { return reference::widen(x); }
  RINGMASTER_HOST_DEVICE static constexpr BFloat16 narrow(Wide x) { return to_bfloat16(x); }
};
template <>
struct Element<Float16> {
  using Wide = float;
  RINGMASTER_HOST_DEVICE static constexpr Wide widen(Float16 x) { return reference::widen(x); }
  RINGMASTER_HOST_DEVICE static constexpr Float16 narrow(Wide x) { return to_float16(x); }
};

/// Integers round towards zero.
template <class W>
RINGMASTER_HOST_DEVICE constexpr W divided(W total, std::int64_t divisor) {
  if constexpr (std::is_integral_v<W>) {
    return static_cast<W>(static_cast<std::int64_t>(total) / divisor);
  } else {
    return total / static_cast<W>(divisor);
  }
}

struct Sum {
  template <class W>
  RINGMASTER_HOST_DEVICE static constexpr W apply(W a, W b) {
    if constexpr (std::is_integral_v<W>) {
      using Bits = std::make_unsigned_t<W>;
      return static_cast<W>(static_cast<Bits>(static_cast<Bits>(a) + static_cast<Bits>(b)));
    } else {
      return a + b;
    }
  }
};
/// NaN, once there, stays; of equal ones the first.
struct Min {
  template <class W>
  RINGMASTER_HOST_DEVICE static constexpr W apply(W a, W b) {
    if constexpr (std::is_floating_point_v<W>) {
      return b < a || b != b ? b : a;
    } else {
      return b < a ? b : a;
    }
  }
};
struct Max {
  template <class W>
  RINGMASTER_HOST_DEVICE static constexpr W apply(W a, W b) {
    if constexpr (std::is_floating_point_v<W>) {
      return a < b || b != b ? b : a;
    } else {
      return a < b ? b : a;
    }
  }
};

}  // namespace reference
}  // namespace ringmaster::kernels
