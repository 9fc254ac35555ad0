// SPDX-License-Identifier: Apache-2.0
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace ringmaster {
namespace {

TEST(Random, IsTheSameStreamFromTheSameSeedAndAfterRestore) {
  Random a(5);
  Random b(5);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
  const Random::State state = a.state();
  const std::uint64_t next = a.next();
  b.restore(state);
  EXPECT_EQ(b.next(), next);
}

TEST(Random, NormalHasMeanZeroAndVarianceOne) {
  Random random(3);
  double sum = 0;
  double squares = 0;
  constexpr int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.02);
}

TEST(Random, PermutationHoldsEveryIndexOnce) {
  Random random(1);
  std::vector<std::int64_t> order = random.permutation(1000);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (std::int64_t i = 0; i < 1000; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(Mix, DiffersForNeighbouringSeedsAndCounters) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (std::uint64_t counter = 0; counter < 100; ++counter) seen.insert(mix(seed, counter));
  }
  EXPECT_EQ(seen.size(), 10000U);
}

}  // namespace
}  // namespace ringmaster
