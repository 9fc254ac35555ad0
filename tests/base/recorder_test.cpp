// SPDX-License-Identifier: Apache-2.0
#include "base/recorder.hpp"

#include <gtest/gtest.h>

#include "base/activity.hpp"
#include "base/version.hpp"

namespace ringmaster {
namespace {

TEST(Recorder, KeepsTheNewestEventsAndCountsTheLost) {
  Recorder recorder(8);
  for (int i = 0; i < 11; ++i) recorder.record(Event{i, i + 1, 0, i, -1, Label::forward, EventLane::main});
  const auto events = recorder.events();
  ASSERT_EQ(events.size(), 8U);
  EXPECT_EQ(events.front().step, 3);
  EXPECT_EQ(events.back().step, 10);
  EXPECT_EQ(recorder.lost(), 3);
  recorder.clear();
  EXPECT_TRUE(recorder.events().empty());
  EXPECT_EQ(recorder.lost(), 0);
}

TEST(Recorder, KeepsNothingWhileDisabled) {
  Recorder recorder(8);
  recorder.set_enabled(false);
  { const Scope scope(recorder, Label::forward, 0); }
  EXPECT_TRUE(recorder.events().empty());
}

TEST(Scope, RecordsItsOwnLifetime) {
  Recorder recorder(8);
  const Nanoseconds before = now_ns();
  { const Scope scope(recorder, Label::optimizer, 4, 2); }
  const auto events = recorder.events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_GE(events[0].begin, before);
  EXPECT_GE(events[0].end, events[0].begin);
  EXPECT_EQ(events[0].step, 4);
  EXPECT_EQ(events[0].index, 2);
}

TEST(Activity, IsOneReadableLine) {
  Activity activity;
  activity.point = "ring";
  activity.step = 12;
  activity.bucket = 3;
  activity.phase = "waiting for a bucket";
  activity.operation = "ring";
  activity.round = 1;
  activity.peer = 0;
  EXPECT_EQ(activity.describe(), "point ring, step 12, bucket 3, waiting for a bucket, ring round 1, for rank 0");
}

TEST(Version, NamesProgramAndCompiler) {
  EXPECT_EQ(build_description().rfind("ringmaster " + version() + " (", 0), 0U);
  EXPECT_NE(build_id().find(version()), std::string::npos);
}

}  // namespace
}  // namespace ringmaster
