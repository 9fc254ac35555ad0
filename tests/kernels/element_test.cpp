// SPDX-License-Identifier: Apache-2.0
// All 65,536 values of each half type there and back, and rounding against arithmetic in double.
#include "kernels/reference/element.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.hpp"

namespace ringmaster::kernels::reference {
namespace {

struct Format {
  int exponent_bits;
  int mantissa_bits;
};
constexpr Format half{5, 10};
constexpr Format bfloat{8, 7};

/// IEEE 754 section 3.4, in double.
double value_of(std::uint16_t bits, Format format) {
  const int mantissa = bits & ((1 << format.mantissa_bits) - 1);
  const int exponent = (bits >> format.mantissa_bits) & ((1 << format.exponent_bits) - 1);
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const double sign = (bits >> 15U) != 0 ? -1 : 1;
  if (exponent == (1 << format.exponent_bits) - 1) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - format.mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << format.mantissa_bits), exponent - bias - format.mantissa_bits);
}

/// The nearest value of the format, ties to even, by trying both neighbours.
double nearest(double x, Format format) {
  if (std::isnan(x) || std::isinf(x) || x == 0) return x;
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const int exponent = std::max(std::ilogb(x), 1 - bias);
  const double unit = std::ldexp(1, exponent - format.mantissa_bits);
  const double rounded = std::nearbyint(x / unit) * unit;
  const double largest = (2 - std::ldexp(1, -format.mantissa_bits)) * std::ldexp(1, bias);
  return std::abs(rounded) > largest ? std::copysign(std::numeric_limits<double>::infinity(), x) : rounded;
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

TEST(HalfTypes, WidenExactlyAndComeBack) {
  for (unsigned bits = 0; bits < 65'536; ++bits) {
    const auto b = static_cast<std::uint16_t>(bits);
    ASSERT_TRUE(same(widen(Float16{b}), value_of(b, half))) << bits;
    ASSERT_TRUE(same(widen(BFloat16{b}), value_of(b, bfloat))) << bits;
    ASSERT_TRUE(same(widen(to_float16(widen(Float16{b}))), widen(Float16{b}))) << bits;
    ASSERT_TRUE(same(widen(to_bfloat16(widen(BFloat16{b}))), widen(BFloat16{b}))) << bits;
  }
}

void expect_rounds(float x) {
  ASSERT_TRUE(same(widen(to_float16(x)), nearest(x, half))) << x;
  ASSERT_TRUE(same(widen(to_bfloat16(x)), nearest(x, bfloat))) << x;
}

TEST(HalfTypes, RoundToTheNearestEven) {
  Random random(5);
  for (int i = 0; i < 2'000'000; ++i) expect_rounds(std::bit_cast<float>(static_cast<std::uint32_t>(random.next())));
  // Halfway between two neighbours, and one float to either side of it.
  for (unsigned bits = 0; bits < 0x7bffU; ++bits) {
    const auto b = static_cast<std::uint16_t>(bits);
    const float middle = (widen(Float16{b}) + widen(Float16{static_cast<std::uint16_t>(b + 1)})) / 2;
    for (const float x : {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, 1e9F)}) expect_rounds(x);
  }
  for (const float x : {65504.0F, 65519.9F, 65520.0F, 65536.0F, 3.4e38F, 1e-45F, 5.96e-8F, 2.98e-8F}) expect_rounds(x);
}

}  // namespace
}  // namespace ringmaster::kernels::reference
