// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "data/dataset.hpp"

namespace ringmaster::data {
namespace {

TEST(Shuffle, IsABijectionForEverySize) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size <= 130; ++size) sizes.push_back(size);
  sizes.insert(sizes.end(), {255, 256, 257, 1000, 4095, 4097, 65537});
  for (const std::int64_t size : sizes) {
    std::vector<int> seen(static_cast<std::size_t>(size), 0);
    for (std::int64_t i = 0; i < size; ++i) ++seen.at(static_cast<std::size_t>(shuffled(i, size, 7, 3)));
    for (const int count : seen) ASSERT_EQ(count, 1) << "size " << size;
  }
}

TEST(Shuffle, ChangesWithSeedAndEpochAndIsReproducible) {
  const std::int64_t size = 1000;
  int same_epoch = 0;
  int same_seed = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    EXPECT_EQ(shuffled(i, size, 1, 0), shuffled(i, size, 1, 0));
    same_epoch += shuffled(i, size, 1, 0) == shuffled(i, size, 1, 1) ? 1 : 0;
    same_seed += shuffled(i, size, 1, 0) == shuffled(i, size, 2, 0) ? 1 : 0;
  }
  EXPECT_LT(same_epoch, 20);  // 1 expected of a random order
  EXPECT_LT(same_seed, 20);
}

TEST(Shuffle, LeavesNoTraceOfThePosition) {
  const std::int64_t size = 5000;
  double sum = 0;
  const double middle = (static_cast<double>(size) - 1) / 2;
  for (std::int64_t i = 0; i < size; ++i) {
    sum += (static_cast<double>(i) - middle) * (static_cast<double>(shuffled(i, size, 11, 0)) - middle);
  }
  const double variance = (static_cast<double>(size) * static_cast<double>(size) - 1) / 12;
  const double correlation = sum / static_cast<double>(size) / variance;
  EXPECT_LT(std::abs(correlation), 5 / std::sqrt(static_cast<double>(size)));
}

TEST(Shuffle, WorksOnHugeSizesWithoutMemory) {
  const std::int64_t size = std::int64_t{1} << 40U;
  for (std::int64_t i = 0; i < 100; ++i) {
    const std::int64_t sample = shuffled(size - 1 - i, size, 5, 0);
    EXPECT_GE(sample, 0);
    EXPECT_LT(sample, size);
  }
}

}  // namespace
}  // namespace ringmaster::data
