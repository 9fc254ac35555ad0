// SPDX-License-Identifier: Apache-2.0
// Timelines made by hand, in microseconds, with the accounts that the definitions of docs/method.md give.
#include "account/accounts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.hpp"

namespace ringmaster::account {
namespace {

constexpr double us = 1e-6;
constexpr double tolerance = 1e-12;

Event event(Label label, int begin_us, int end_us, int index = -1, int step = 0) {
  Event e;
  e.label = label;
  e.begin = 1000 * Nanoseconds{begin_us};
  e.end = 1000 * Nanoseconds{end_us};
  e.index = index;
  e.step = step;
  return e;
}

Event transfer(int begin_us, int end_us, int index, int step = 0) {
  Event e = event(Label::bucket_transfer, begin_us, end_us, index, step);
  e.lane = EventLane::engine;
  return e;
}

Event enqueued(int at_us, int index, int step = 0) { return event(Label::bucket_enqueued, at_us, at_us, index, step); }

StepAccounts only_step(const RankEvents& rank) { return account(std::vector{rank}).at(0).at(0); }

double sum(const StepAccounts& step) {
  double total = 0;
  for (const double seconds : step.seconds) total += seconds;
  return total;
}

// A step of 1000 us with every phase once and nothing left over.
RankEvents whole_step() {
  RankEvents rank;
  rank.main = {event(Label::data_wait, 0, 50),
               event(Label::forward, 50, 300),
               event(Label::backward, 300, 700),
               enqueued(500, 0),
               enqueued(690, 1),
               event(Label::exposed_wait, 700, 800, 0),
               event(Label::encode, 800, 820),
               event(Label::optimizer, 820, 930),
               event(Label::host_gap, 930, 950),
               event(Label::pipeline_bubble, 950, 980),
               event(Label::other, 980, 1000),
               event(Label::step, 0, 1000)};
  rank.engine = {transfer(510, 800, 0)};
  return rank;
}

TEST(Accounts, EveryMicrosecondIsInExactlyOneAccount) {
  const StepAccounts step = only_step(whole_step());
  EXPECT_NEAR(step.step_s, 1000 * us, tolerance);
  EXPECT_NEAR(step[Account::data_wait], 50 * us, tolerance);
  EXPECT_NEAR(step[Account::forward], 250 * us, tolerance);
  EXPECT_NEAR(step[Account::backward], 400 * us, tolerance);
  EXPECT_NEAR(step[Account::exposed_transfer], 100 * us, tolerance);
  EXPECT_NEAR(step[Account::exposed_skew], 0, tolerance);
  EXPECT_NEAR(step[Account::encode], 20 * us, tolerance);
  EXPECT_NEAR(step[Account::optimizer], 110 * us, tolerance);
  EXPECT_NEAR(step[Account::host_gap], 20 * us, tolerance);
  EXPECT_NEAR(step[Account::pipeline_bubble], 30 * us, tolerance);
  EXPECT_NEAR(step[Account::other], 20 * us, tolerance);
  EXPECT_NEAR(step[Account::unaccounted], 0, tolerance);
  EXPECT_NEAR(sum(step), step.step_s, tolerance);
}

TEST(Accounts, InlineProgressInsideBackwardCountsOnceAsProgress) {
  RankEvents rank = whole_step();
  rank.main.insert(rank.main.begin(), {event(Label::progress, 400, 430), event(Label::progress, 600, 605)});
  const StepAccounts step = only_step(rank);
  EXPECT_NEAR(step[Account::progress], 35 * us, tolerance);
  EXPECT_NEAR(step[Account::backward], 365 * us, tolerance);
  EXPECT_NEAR(sum(step), step.step_s, tolerance);
}

TEST(Accounts, TimeThatNothingRecordsIsUnaccounted) {
  RankEvents rank = whole_step();
  rank.main[1] = event(Label::forward, 50, 250);
  const StepAccounts step = only_step(rank);
  EXPECT_NEAR(step[Account::unaccounted], 50 * us, tolerance);
  EXPECT_NEAR(step[Account::forward], 200 * us, tolerance);
}

// Two ranks; rank 1 enqueues bucket 0 at `ready_us`. Rank 0 waits from 100 to 200 us.
StepAccounts waiting(int ready_us, int wait_begin_us = 100, int wait_end_us = 200) {
  RankEvents early{
      0,
      {enqueued(50, 0), event(Label::exposed_wait, wait_begin_us, wait_end_us, 0), event(Label::step, 0, 300)},
      {transfer(50, wait_end_us, 0)}};
  RankEvents late{1, {enqueued(ready_us, 0), event(Label::step, 0, 300)}, {transfer(ready_us, wait_end_us, 0)}};
  return account(std::vector{early, late}).at(0).at(0);
}

TEST(Accounts, WaitingUntilTheLastRankIsReadyIsSkewAndTheRestTransfer) {
  const StepAccounts step = waiting(160);
  EXPECT_NEAR(step[Account::exposed_skew], 60 * us, tolerance);
  EXPECT_NEAR(step[Account::exposed_transfer], 40 * us, tolerance);
}

TEST(Accounts, AWaitThatBeginsAfterAllRanksWereReadyIsTransferOnly) {
  const StepAccounts step = waiting(70);
  EXPECT_NEAR(step[Account::exposed_skew], 0, tolerance);
  EXPECT_NEAR(step[Account::exposed_transfer], 100 * us, tolerance);
}

// The residual of aligned clocks can put the last rank's start after this rank's end.
TEST(Accounts, AWaitThatEndsBeforeTheLastRankSeemsReadyIsSkewOnly) {
  const StepAccounts step = waiting(220);
  EXPECT_NEAR(step[Account::exposed_skew], 100 * us, tolerance);
  EXPECT_NEAR(step[Account::exposed_transfer], 0, tolerance);
}

TEST(Accounts, AWaitForAllBucketsIsSkewUntilTheLastBucketIsReadyEverywhere) {
  RankEvents rank{0,
                  {enqueued(10, 0), enqueued(40, 1), event(Label::exposed_wait, 20, 100), event(Label::step, 0, 100)},
                  {transfer(10, 60, 0), transfer(60, 100, 1)}};
  const StepAccounts step = only_step(rank);
  EXPECT_NEAR(step[Account::exposed_skew], 20 * us, tolerance);
  EXPECT_NEAR(step[Account::exposed_transfer], 60 * us, tolerance);
}

TEST(Accounts, TransferBehindAnEarlierBucketIsQueueing) {
  RankEvents rank{
      0,
      {enqueued(10, 0), enqueued(20, 1), event(Label::exposed_wait, 30, 100, 1), event(Label::step, 0, 100)},
      {transfer(10, 70, 0), transfer(75, 100, 1)}};
  const StepAccounts step = only_step(rank);
  EXPECT_NEAR(step[Account::exposed_transfer], 70 * us, tolerance);
  EXPECT_NEAR(step.queueing_s, 40 * us, tolerance) << "30..70; 70..75 is nobody's transfer";
}

TEST(Accounts, SkewIsNoQueueing) {
  RankEvents rank{
      0,
      {enqueued(10, 0), enqueued(60, 1), event(Label::exposed_wait, 30, 100, 1), event(Label::step, 0, 100)},
      {transfer(10, 70, 0), transfer(70, 100, 1)}};
  EXPECT_NEAR(only_step(rank).queueing_s, 10 * us, tolerance) << "60..70 only";
}

TEST(Accounts, CommunicationUnderBackwardIsHidden) {
  const StepAccounts step = only_step(whole_step());
  EXPECT_NEAR(step.communication_s, 290 * us, tolerance);
  EXPECT_NEAR(step.hidden_s, 190 * us, tolerance) << "510..700; the rest was waited for";
}

TEST(Accounts, OverlappingTransfersCountOnceAndProgressHidesNothing) {
  RankEvents rank = whole_step();
  rank.engine = {transfer(510, 650, 0), transfer(600, 800, 1)};
  rank.main[4] = enqueued(600, 1);
  rank.main.push_back(event(Label::progress, 520, 540));
  const StepAccounts step = only_step(rank);
  EXPECT_NEAR(step.communication_s, 290 * us, tolerance);
  EXPECT_NEAR(step.hidden_s, 170 * us, tolerance);
}

TEST(Accounts, ATransferThatWaitsForALateRankIsNoCommunicationYet) {
  const StepAccounts step = waiting(160);
  EXPECT_NEAR(step.communication_s, 40 * us, tolerance);
  EXPECT_NEAR(step.hidden_s, 0, tolerance);
}

TEST(Accounts, AStepThatARankLacksIsDropped) {
  RankEvents whole{0, {event(Label::step, 0, 100, -1, 3), event(Label::step, 100, 220, -1, 4)}, {}};
  RankEvents part{1, {event(Label::step, 100, 220, -1, 4)}, {}};
  const auto accounts = account(std::vector{whole, part});
  ASSERT_EQ(accounts.at(0).size(), 1U);
  ASSERT_EQ(accounts.at(1).size(), 1U);
  EXPECT_EQ(accounts[0][0].step, 4);
  EXPECT_NEAR(accounts[0][0].step_s, 120 * us, tolerance);
}

TEST(Accounts, BucketsOfOneStepDoNotDelayThoseOfAnother) {
  RankEvents rank{
      0,
      {enqueued(10, 0, 0), event(Label::exposed_wait, 20, 50, 0, 0), event(Label::step, 0, 100, -1, 0),
       enqueued(190, 0, 1), event(Label::exposed_wait, 190, 200, 0, 1), event(Label::step, 100, 200, -1, 1)},
      {}};
  const auto steps = account(std::vector{rank}).at(0);
  EXPECT_NEAR(steps.at(0)[Account::exposed_skew], 0, tolerance);
  EXPECT_NEAR(steps.at(0)[Account::exposed_transfer], 30 * us, tolerance);
  EXPECT_NEAR(steps.at(1)[Account::exposed_transfer], 10 * us, tolerance);
}

TEST(Accounts, NoEventsAreNoSteps) {
  EXPECT_TRUE(account(std::vector<RankEvents>{}).empty());
  EXPECT_TRUE(account(std::vector<RankEvents>(2)).at(1).empty());
}

// Whatever is recorded, nested or badly overlapping, the books close: no account is negative, and the sum is the step.
TEST(Accounts, TheSumIsTheStepForAnyEvents) {
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    RankEvents rank;
    rank.main = {event(Label::step, 100, 1100)};
    const auto events = static_cast<int>(random.below(30));
    for (int i = 0; i < events; ++i) {
      const auto label = static_cast<Label>(random.below(10));
      const auto begin = static_cast<int>(random.below(1200));
      const auto bucket = static_cast<int>(random.below(4));
      rank.main.push_back(event(label, begin, begin + static_cast<int>(random.below(300)), bucket));
      rank.main.push_back(enqueued(static_cast<int>(random.below(1200)), bucket));
      const auto start = static_cast<int>(random.below(1200));
      rank.engine.push_back(transfer(start, start + static_cast<int>(random.below(300)), bucket));
    }
    const StepAccounts step = only_step(rank);
    EXPECT_NEAR(sum(step), step.step_s, tolerance);
    for (const double seconds : step.seconds) EXPECT_GE(seconds, 0);
    EXPECT_GE(step.hidden_s, 0);
    EXPECT_LE(step.hidden_s, step.communication_s + tolerance);
    EXPECT_LE(step.queueing_s, step[Account::exposed_transfer] + tolerance);
  }
}

// The planted sleeps of the books-balance test: 5 ms more of one phase, everything after it later.
class PlantedSleep : public testing::TestWithParam<int> {};

void shift(std::vector<Event>& events, Nanoseconds from, Nanoseconds by) {
  for (Event& e : events) {
    if (e.begin >= from) e.begin += by;
    if (e.end >= from) e.end += by;
  }
}

constexpr Nanoseconds five_ms = 5'000'000;

/// By name; a wait whose last rank was long ready is transfer.
Account account_named(Label label) {
  if (label == Label::exposed_wait) return Account::exposed_transfer;
  for (std::size_t a = 0; a < account_count; ++a) {
    const auto candidate = static_cast<Account>(a);
    if (std::string(ringmaster::name_of(label)) == name_of(candidate)) return candidate;
  }
  return Account::unaccounted;
}

TEST_P(PlantedSleep, AppearsInItsAccountAndNowhereElse) {
  const auto label = static_cast<Label>(GetParam());
  RankEvents rank = whole_step();
  rank.main.push_back(event(Label::progress, 400, 430));
  const StepAccounts before = only_step(rank);
  const auto phase = std::find_if(rank.main.begin(), rank.main.end(), [&](const Event& e) { return e.label == label; });
  ASSERT_NE(phase, rank.main.end());
  const Nanoseconds middle = (phase->begin + phase->end) / 2;
  shift(rank.main, middle, five_ms);
  shift(rank.engine, middle, five_ms);
  const StepAccounts after = only_step(rank);
  const Account expected = account_named(label);
  for (std::size_t a = 0; a < account_count; ++a) {
    const double more = static_cast<Account>(a) == expected ? to_seconds(five_ms) : 0;
    EXPECT_NEAR(after.seconds[a] - before.seconds[a], more, tolerance) << name_of(static_cast<Account>(a));
  }
  EXPECT_TRUE(audit(std::vector{after}).empty() || label == Label::other);
}

INSTANTIATE_TEST_SUITE_P(EveryLabel, PlantedSleep, testing::Range(0, 10), [](const auto& test) {
  return std::string(ringmaster::name_of(static_cast<Label>(test.param)));
});

TEST(Accounts, APlantedSleepOfOneRankIsSkewOfTheOthers) {
  RankEvents early = whole_step();
  RankEvents late = whole_step();
  late.rank = 1;
  const auto before = account(std::vector{early, late});
  shift(late.main, 1000 * 400, five_ms);
  shift(late.engine, 1000 * 400, five_ms);
  shift(early.main, 1000 * 800, five_ms);  // it waits that much longer
  shift(early.engine, 1000 * 800, five_ms);
  const auto after = account(std::vector{early, late});
  // Rank 0 waits from 700 us; the late rank enqueues at 500 + 5000 us.
  EXPECT_NEAR(after[0][0][Account::exposed_skew], 4800 * us, tolerance);
  EXPECT_NEAR(after[0][0][Account::exposed_transfer], 300 * us, tolerance);
  EXPECT_NEAR(after[1][0][Account::backward] - before[1][0][Account::backward], 5000 * us, tolerance);
  EXPECT_NEAR(after[1][0][Account::exposed_skew], 0, tolerance);
}

TEST(Audit, AnUnrecordedSleepOfFiveMillisecondsFails) {
  RankEvents rank;
  rank.main = {event(Label::forward, 0, 100'000), event(Label::backward, 100'000, 295'000),
               event(Label::step, 0, 300'000)};
  const std::vector<std::string> failures = audit(std::vector{only_step(rank)});
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0],
            "unaccounted is 5.00 ms of 300 ms a step (1.7 %), at most 1.0 % is allowed: something on the main lane is "
            "not recorded");
}

TEST(Audit, BalancedBooksPass) { EXPECT_TRUE(audit(std::vector{only_step(whole_step())}).empty()); }

TEST(Audit, TooMuchOtherFails) {
  RankEvents rank = whole_step();
  rank.main[1] = event(Label::other, 50, 300);
  const std::vector<std::string> failures = audit(std::vector{only_step(rank)});
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_EQ(failures[0].rfind("other is ", 0), 0U) << failures[0];
}

TEST(Audit, NothingRecordedFails) { EXPECT_EQ(audit({}).size(), 1U); }

}  // namespace
}  // namespace ringmaster::account
