// SPDX-License-Identifier: Apache-2.0
#include "base/activity.hpp"

#include <gtest/gtest.h>

namespace ringmaster {
namespace {

TEST(Activity, NamesOutliveWhoGaveThem) {
  const char* kept = nullptr;
  {
    const std::string name = "wide-mlp/ring, long enough for the heap";
    kept = lasting(name);
  }
  EXPECT_STREQ(kept, "wide-mlp/ring, long enough for the heap");
  EXPECT_EQ(lasting("wide-mlp/ring, long enough for the heap"), kept);
}

TEST(Activity, APhaseOutsideOfStepsForgetsWhatNobodyWaitsFor) {
  Activity now;
  now.point.store("ring");
  now.step.store(7);
  now.bucket.store(3);
  now.operation.store("ring");
  now.round.store(1);
  now.peer.store(2);
  now.phase.store("waiting for a bucket");
  EXPECT_EQ(now.describe(), "point ring, step 7, bucket 3, waiting for a bucket, ring round 1, for rank 2");
  now.enter("measuring the GEMM rate");
  EXPECT_EQ(now.describe(), "point ring, step 7, measuring the GEMM rate");
}

}  // namespace
}  // namespace ringmaster
