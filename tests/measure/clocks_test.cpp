// SPDX-License-Identifier: Apache-2.0
#include "measure/clocks.hpp"

#include <gtest/gtest.h>

#include "measure/ceilings.hpp"
#include "measure/cost.hpp"
#include "transport/threads.hpp"

namespace ringmaster::measure {
namespace {

TEST(ClockAlignment, ThreadsOfOneProcessHaveOneClock) {
  transport::run_as_threads(4, [](transport::ProcessGroup& group) {
    ClockAlignment clock(group);
    EXPECT_TRUE(clock.same_clock());
    EXPECT_EQ(clock.to_common(12345), 12345);
    clock.refresh(group);
    EXPECT_EQ(clock.to_common(12345), 12345);
    EXPECT_GE(clock.residual_s(), 0);
    EXPECT_LT(clock.residual_s(), 1);
  });
}

TEST(EventCost, IsPositiveAndSmallerThanACallOfTheSystem) {
  const double cost = event_cost_s();
  EXPECT_GT(cost, 0);
  EXPECT_LT(cost, 1e-3);
}

TEST(Ceilings, AreFiniteAndPositive) {
  transport::run_as_threads(2, [](transport::ProcessGroup& group) {
    const result::Ceilings c = measure_ceilings(group, [](int n) { return 1e-9 * n; });
    EXPECT_GT(c.gemm_gflop_per_s, 0);
    EXPECT_GT(c.copy_gb_per_s, 0);
    EXPECT_GT(c.pingpong_us, 0);
    EXPECT_GT(c.link_gb_per_s, 0);
  });
}

}  // namespace
}  // namespace ringmaster::measure
