// SPDX-License-Identifier: Apache-2.0
#include "measure/watchdog.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "base/activity.hpp"

namespace ringmaster::measure {
namespace {

void say(const std::string& reason) {
  const std::string line = reason + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

TEST(WatchdogDeathTest, EndsWith143AfterSigtermAndReportsFirst) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        const Watchdog watchdog({60, say});
        kill(getpid(), SIGTERM);
        for (;;) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      },
      testing::ExitedWithCode(143), "SIGTERM");
}

TEST(WatchdogDeathTest, EndsWith143EvenIfTheFlushHangs) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        const Watchdog watchdog({60, [](const std::string& reason) {
                                   say(reason);
                                   for (;;) pause();
                                 }});
        kill(getpid(), SIGTERM);
        for (;;) pause();
      },
      testing::ExitedWithCode(143), "SIGTERM");
}

TEST(WatchdogDeathTest, EndsAJobThatStandsStill) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        Watchdog watchdog({60, say});
        watchdog.set_timeout(0.1);
        for (;;) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      },
      testing::ExitedWithCode(1), "no progress for");
}

TEST(Watchdog, LetsAJobThatMovesLive) {
  Watchdog watchdog({0.2, [](const std::string&) { FAIL() << "it moves"; }});
  for (int i = 0; i < 40; ++i) {
    activity().touch();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace
}  // namespace ringmaster::measure
