// SPDX-License-Identifier: Apache-2.0
// Each cause is planted in samples made up for it, and must be named first, with its figures and what to change.
#include <gtest/gtest.h>

#include "made_run.hpp"
#include "report/summary.hpp"

namespace ringmaster::report {
namespace {

Limit first(const MadeRun& made) {
  const std::vector<Limit> all = limits(made.run, "w");
  return all.empty() ? Limit{} : all.front();
}

void expect_first(const MadeRun& made, Cause cause) {
  EXPECT_EQ(name_of(first(made).cause), std::string(name_of(cause))) << limits_paragraph(made.run);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

MadeRun planted(const MadeStep& step, int ranks = 2) {
  MadeRun made(ranks);
  made.add("w", "ring", "variant");
  made.rounds(step);
  return made;
}

TEST(Limits, AHealthyStepIsLimitedByComputing) {
  MadeStep step;
  step.transfer = 0.5;
  step.skew = 0.5;
  const MadeRun made = planted(step);
  expect_first(made, Cause::compute);
  EXPECT_TRUE(contains(first(made).cure, "nothing is wrong")) << first(made).cure;
}

TEST(Limits, ASlowLoaderIsNamed) {
  MadeStep step;
  step.data = 40;
  const MadeRun made = planted(step);
  expect_first(made, Cause::data);
  EXPECT_NEAR(first(made).seconds, 40e-3, 1e-3);
  EXPECT_TRUE(contains(first(made).sentence, "every rank waits 40")) << first(made).sentence;
  EXPECT_TRUE(contains(first(made).cure, "data.loaders"));
}

// The other rank's wait for it is skew; the cause is the loader all the same.
TEST(Limits, ASlowLoaderOfOneRankIsNamedAndNotTheSkewItCauses) {
  MadeRun made;
  made.add("w", "ring", "variant");
  MadeStep starved;
  starved.data = 40;
  MadeStep waiting;
  waiting.skew = 40;
  made.rounds({waiting, starved});
  expect_first(made, Cause::data);
  EXPECT_TRUE(contains(first(made).sentence, "rank 1 waits"));
  for (const Limit& limit : limits(made.run, "w")) EXPECT_NE(limit.cause, Cause::slow_rank) << limit.sentence;
}

TEST(Limits, ASlowRankIsNamedWithItsHost) {
  MadeRun made(4);
  made.run.machine.hosts = {"alpha", "alpha", "beta", "beta"};
  made.add("w", "ring", "variant");
  MadeStep slow;
  slow.forward *= 1.5;
  slow.backward *= 1.5;
  slow.skew = 0;
  MadeStep waiting;
  waiting.skew = 38;
  waiting.transfer = 15;
  made.rounds({waiting, waiting, slow, waiting});
  expect_first(made, Cause::slow_rank);
  EXPECT_TRUE(contains(first(made).sentence, "rank 2 on beta is slow")) << first(made).sentence;
  EXPECT_NEAR(first(made).seconds, 45e-3, 2e-3);
}

TEST(Limits, RanksThatTakeTurnsBeingLateAreNotOneSlowRank) {
  MadeStep step;
  step.skew = 30;
  const MadeRun made = planted(step);
  expect_first(made, Cause::slow_rank);
  EXPECT_TRUE(contains(first(made).sentence, "take turns")) << first(made).sentence;
}

TEST(Limits, NoSpareCoreIsNamedWhereOverlapWasMeant) {
  MadeStep step;
  step.transfer = 9;
  step.progress = 6;
  step.hidden = 0.5;
  MadeRun made = planted(step);
  made.run.points[0].engine = "inline";
  made.run.machine.rank_processing_units = {1, 1};
  made.run.machine.processing_units = 2;
  expect_first(made, Cause::no_spare_core);
  EXPECT_TRUE(contains(first(made).sentence, "2 ranks on 2 processing units, 1 in a rank's cpuset"))
      << first(made).sentence;
  EXPECT_TRUE(contains(first(made).cure, "PE=2"));
}

TEST(Limits, WithoutOverlapASpareCoreWouldNotHelp) {
  MadeStep step;
  step.transfer = 9;
  MadeRun made = planted(step);
  made.run.points[0].engine = "inline";
  made.run.points[0].overlap = false;
  expect_first(made, Cause::communication);
  EXPECT_EQ(first(made).cure, "communication.overlap: true");
}

TEST(Limits, OversubscribedRanksLackCores) {
  MadeStep step;
  step.transfer = 25;
  step.skew = 15;
  MadeRun made = planted(step, 4);
  made.run.stamps = {"oversubscribed: 1 thread a rank on 0 processing units a rank: not a performance result"};
  expect_first(made, Cause::no_spare_core);
}

TEST(Limits, TinyBucketsAreNamed) {
  MadeStep step;
  step.transfer = 20;
  step.progress = 15;
  step.hidden = 5;
  MadeRun made = planted(step);
  made.run.points[0].buckets = 3125;
  made.run.points[0].messages_per_step = 2 * 3125;
  made.run.points[0].engine = "inline";
  expect_first(made, Cause::tiny_buckets);
  EXPECT_TRUE(contains(first(made).sentence, "3125 buckets of 4.1 kB")) << first(made).sentence;
  EXPECT_EQ(first(made).cure, "communication.bucket: 2M");
}

// The same step with four large buckets over a link that one flow alone cannot use faster.
TEST(Limits, ASlowLinkIsNamed) {
  MadeStep step;
  step.transfer = 200;
  step.hidden = 60;
  MadeRun made = planted(step);
  made.run.points[0].engine = "inline";
  made.run.ceilings.link_gb_per_s = 0.05;
  expect_first(made, Cause::slow_link);
  EXPECT_TRUE(contains(first(made).sentence, "one flow does 0.05 GB/s")) << first(made).sentence;
}

// A fast link that is used badly is not slow.
TEST(Limits, AFastLinkIsNotBlamed) {
  MadeStep step;
  step.transfer = 200;
  MadeRun made = planted(step);
  made.run.ceilings.link_gb_per_s = 5;
  expect_first(made, Cause::communication);
}

TEST(Limits, ANetworkThatIsSlowByItselfIsASlowLink) {
  MadeStep step;
  step.transfer = 110;
  MadeRun made = planted(step);
  made.run.ceilings.link_gb_per_s = 0.117;
  expect_first(made, Cause::slow_link);
}

// What another variant does over the same link is not the link's fault.
TEST(Limits, AFasterVariantIsTheCure) {
  MadeRun made;
  MadeStep slow;
  slow.transfer = 60;
  MadeStep fast;
  fast.transfer = 5;
  made.add("w", "mpi_allreduce", "baseline");
  made.rounds(slow);
  made.add("w", "ring", "variant");
  made.rounds(fast);
  expect_first(made, Cause::communication);
  EXPECT_EQ(first(made).cure.rfind("communication.collective: ring (1.", 0), 0U) << first(made).cure;
}

TEST(Limits, ASmallBatchIsMentionedAfterWhatIsLost) {
  MadeStep step;
  step.forward = 5;
  step.backward = 10;
  step.transfer = 9;
  const MadeRun made = planted(step);
  bool mentioned = false;
  for (const Limit& limit : limits(made.run, "w")) {
    if (limit.cause == Cause::small_batch) mentioned = contains(limit.cure, "train.micro_batches");
  }
  EXPECT_TRUE(mentioned) << limits_paragraph(made.run);
}

TEST(Limits, NeverPromisesMoreThanTheStepLoses) {
  MadeStep step;
  step.data = 10;
  step.skew = 12;
  step.transfer = 30;
  step.progress = 5;
  for (const char* engine : {"inline", "thread"}) {
    for (const int buckets : {1, 4, 100, 3000}) {
      MadeRun made = planted(step);
      made.run.points[0].engine = engine;
      made.run.points[0].buckets = buckets;
      double lost = 0;
      for (const Limit& limit : limits(made.run, "w")) {
        if (limit.cause == Cause::compute || limit.cause == Cause::small_batch) continue;
        lost += limit.seconds;
        EXPECT_NEAR(limit.share, limit.seconds / (step.sum() * 1e-3), 0.02);
      }
      EXPECT_LE(lost, 1.03e-3 * (step.data + step.skew + step.transfer + step.progress)) << limits_paragraph(made.run);
    }
  }
}

TEST(Limits, OneRankIsNotToldAboutCommunication) {
  MadeStep step;
  step.skew = step.transfer = step.hidden = 0;
  const MadeRun made = planted(step, 1);
  EXPECT_EQ(limits(made.run, "w").size(), 1U);
}

TEST(Limits, NothingMeasuredIsNothingSaid) {
  MadeRun made;
  EXPECT_TRUE(limits(made.run, "w").empty());
  EXPECT_EQ(limits_paragraph(made.run), "");
}

}  // namespace
}  // namespace ringmaster::report
