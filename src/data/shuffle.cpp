// SPDX-License-Identifier: Apache-2.0
// A random order without a table: a Feistel network is a bijection of 2^(2h) numbers whatever its round function;
// walking its cycle until a number below `size` comes makes it one of `size` (Black and Rogaway 2002). The domain
// is less than four times `size`, so a walk takes fewer than four steps on average.
#include <bit>

#include "base/error.hpp"
#include "base/random.hpp"
#include "data/dataset.hpp"

namespace ringmaster::data {
namespace {

constexpr int rounds = 6;  // small domains need more than the four of theory

std::uint64_t feistel(std::uint64_t value, int half_bits, std::uint64_t key) {
  const std::uint64_t mask = (std::uint64_t{1} << static_cast<unsigned>(half_bits)) - 1;
  std::uint64_t left = value >> static_cast<unsigned>(half_bits);
  std::uint64_t right = value & mask;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t hashed = mix(key + static_cast<std::uint64_t>(round), right) & mask;
    const std::uint64_t next = left ^ hashed;
    left = right;
    right = next;
  }
  return (left << static_cast<unsigned>(half_bits)) | right;
}

}  // namespace

std::int64_t shuffled(std::int64_t position, std::int64_t size, std::uint64_t seed, std::int64_t epoch) {
  RINGMASTER_ASSERT(position >= 0 && position < size, "position outside of the epoch");
  if (size == 1) return 0;
  const auto count = static_cast<std::uint64_t>(size);
  const int half_bits = (static_cast<int>(std::bit_width(count - 1)) + 1) / 2;
  const std::uint64_t key = mix(seed, static_cast<std::uint64_t>(epoch));
  std::uint64_t value = static_cast<std::uint64_t>(position);
  do {
    value = feistel(value, half_bits, key);
  } while (value >= count);
  return static_cast<std::int64_t>(value);
}

}  // namespace ringmaster::data
