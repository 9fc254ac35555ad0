// SPDX-License-Identifier: Apache-2.0
// Reproducible random numbers. `mix` hashes (seed, counter) to 64 bits, so that any element of a stream can
// be had without the ones before it; `Random` is a small sequential generator (xoshiro256**, Blackman and
// Vigna 2018), the same on every machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ringmaster {

/// splitmix64's finalizer over seed and counter.
std::uint64_t mix(std::uint64_t seed, std::uint64_t counter);

class Random {
 public:
  explicit Random(std::uint64_t seed);

  std::uint64_t next();
  /// In [0, bound), unbiased. bound > 0.
  std::uint64_t below(std::uint64_t bound);
  /// In [0, 1).
  double uniform();
  /// Standard normal (Box-Muller).
  double normal();
  /// A random order of 0..n-1 (Fisher-Yates).
  std::vector<std::int64_t> permutation(std::int64_t n);

  /// The whole state, for checkpoints.
  struct State {
    std::uint64_t words[4];
  };
  State state() const { return state_; }
  void restore(const State& state) { state_ = state; }

 private:
  State state_{};
};

}  // namespace ringmaster
