// SPDX-License-Identifier: Apache-2.0
#include "collective/exact_data.hpp"

#include <gtest/gtest.h>

#include "kernels/cpu/reduce.hpp"

namespace ringmaster::collective {
namespace {

constexpr std::int64_t count = 5000;

std::vector<std::byte> vector_of(DataType type, int rank, std::uint64_t salt) {
  std::vector<std::byte> vector(static_cast<std::size_t>(count * size_of(type)));
  fill_exact(vector, type, rank, salt);
  return vector;
}

/// One after the other, from the last rank to the first: another order and grouping than any other place uses.
std::vector<std::byte> combined(DataType type, Reduction reduction, int ranks, std::uint64_t salt) {
  std::vector<std::byte> total = vector_of(type, ranks - 1, salt);
  for (int rank = ranks - 2; rank >= 0; --rank) {
    const std::vector<std::byte> next = vector_of(type, rank, salt);
    const std::vector<const std::byte*> sources{total.data(), next.data()};
    kernels::reduce(
        sources, total.data(), count,
        kernels::arithmetic_of(type, reduction, ranks, rank == 0 ? kernels::Sum::complete : kernels::Sum::partial));
  }
  return total;
}

TEST(ExactData, IsTheSameInAnyOrderAndFindsEachWrongElement) {
  for (const DataType type : data_types) {
    for (const Reduction reduction : reductions) {
      for (const int ranks : {2, 5, 16, 127}) {
        std::vector<std::byte> total = combined(type, reduction, ranks, 3);
        EXPECT_EQ(count_wrong(total, type, reduction, ranks, 3), 0)
            << name_of(type) << " " << name_of(reduction) << " of " << ranks;
        const auto width = static_cast<std::size_t>(size_of(type));
        for (const std::size_t element : {0U, 1984U, 4999U}) total[element * width] ^= std::byte{1};
        EXPECT_EQ(count_wrong(total, type, reduction, ranks, 3), 3);
      }
    }
  }
}

TEST(ExactData, DiffersByRankAndBySalt) {
  for (const DataType type : data_types) {
    EXPECT_NE(vector_of(type, 0, 0), vector_of(type, 1, 0));
    EXPECT_NE(vector_of(type, 0, 0), vector_of(type, 0, 1));
  }
}

}  // namespace
}  // namespace ringmaster::collective
