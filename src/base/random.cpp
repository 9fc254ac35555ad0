// SPDX-License-Identifier: Apache-2.0
#include "base/random.hpp"

#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "base/error.hpp"

namespace ringmaster {
namespace {

constexpr std::uint64_t golden = 0x9E3779B97F4A7C15ULL;

std::uint64_t finalize(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

std::uint64_t rotate_left(std::uint64_t x, unsigned k) { return (x << k) | (x >> (64U - k)); }

}  // namespace

std::uint64_t mix(std::uint64_t seed, std::uint64_t counter) {
  // The seed is hashed first: streams of neighbouring seeds must not be shifts of each other.
  return finalize(finalize(seed + golden) + golden * (counter + 1));
}

Random::Random(std::uint64_t seed) {
  for (std::uint64_t i = 0; i < 4; ++i) state_.words[i] = finalize(seed + golden * (i + 1));
}

std::uint64_t Random::next() {
  auto& s = state_.words;
  const std::uint64_t result = rotate_left(s[1] * 5, 7) * 9;
  const std::uint64_t t = s[1] << 17U;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate_left(s[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t bound) {
  RINGMASTER_ASSERT(bound > 0, "a random number below nothing");
  // Values under 2^64 mod bound would make the low results likelier.
  const std::uint64_t reject_below = (0 - bound) % bound;
  for (;;) {
    const std::uint64_t value = next();
    if (value >= reject_below) return value % bound;
  }
}

double Random::uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::vector<std::int64_t> Random::permutation(std::int64_t n) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(i)]);
  return order;
}

}  // namespace ringmaster
