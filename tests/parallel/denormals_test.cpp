// SPDX-License-Identifier: Apache-2.0
#include "parallel/denormals.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ringmaster::parallel {
namespace {

float half_of_the_smallest() {
  volatile float smallest = std::numeric_limits<float>::min();
  return smallest * 0.5F;
}

TEST(FlushDenormals, LastsAsLongAsTheObject) {
#if !defined(__SSE__)
  GTEST_SKIP() << "this processor has no SSE";
#endif
  EXPECT_GT(half_of_the_smallest(), 0.0F);
  {
    const FlushDenormals flush;
    EXPECT_EQ(half_of_the_smallest(), 0.0F);
  }
  EXPECT_GT(half_of_the_smallest(), 0.0F);
}

}  // namespace
}  // namespace ringmaster::parallel
