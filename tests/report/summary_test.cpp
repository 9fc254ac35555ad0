// SPDX-License-Identifier: Apache-2.0
// What the samples say must be what the summary says.
#include "report/summary.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "made_run.hpp"

namespace ringmaster::report {
namespace {

const PointSummary& named(const std::vector<PointSummary>& all, const std::string& variant) {
  for (const PointSummary& summary : all) {
    if (summary.point->variant == variant) return summary;
  }
  throw std::runtime_error("no point " + variant);
}

TEST(Summary, ClaimsADifferenceOnlyWhereThereIsOne) {
  const MadeRun made = whole_made_run();
  const auto all = summarize(made.run);
  EXPECT_EQ(named(all, "mpi_allreduce").verdict, "-");
  EXPECT_EQ(named(all, "ring").verdict.rfind("1.31x faster [", 0), 0U) << named(all, "ring").verdict;
  EXPECT_EQ(named(all, "tree").verdict.rfind("no difference [", 0), 0U) << named(all, "tree").verdict;
  EXPECT_NEAR(named(all, "ring").against_library.ratio, 135.0 / 103.0, 0.02);
}

TEST(Summary, SaysSlowerWhenItIsSlower) {
  MadeRun made;
  MadeStep slow;
  slow.transfer = 60;
  made.add("w", "mpi_allreduce", "baseline");
  made.rounds(MadeStep());
  made.add("w", "ring", "variant");
  made.rounds(slow);
  const auto all = summarize(made.run);
  EXPECT_NE(named(all, "ring").verdict.find("x slower ["), std::string::npos) << named(all, "ring").verdict;
  EXPECT_FALSE(winner(all, made.run, "w").faster);
}

// Three rounds that agree happen by chance in one of four cases.
TEST(Summary, NeverClaimsADifferenceFromAFewRounds) {
  MadeRun made;
  MadeStep slow;
  slow.transfer = 60;
  made.add("w", "mpi_allreduce", "baseline");
  made.rounds(slow, 4);
  made.add("w", "ring", "variant");
  made.rounds(MadeStep(), 4);
  EXPECT_EQ(named(summarize(made.run), "ring").verdict.rfind("no difference", 0), 0U);
}

// Fifty tables of five variants that do not differ: Holm keeps false claims rare.
TEST(Summary, EqualVariantsAreHardlyEverCalledDifferent) {
  int claims = 0;
  for (int table = 0; table < 50; ++table) {
    MadeRun made;
    for (int skip = 0; skip < table; ++skip) made.run.points.emplace_back();  // another seed of the noise
    for (int i = 0; i < table; ++i) made.run.points[static_cast<std::size_t>(i)].id = i;
    made.add("w", "mpi_allreduce", "baseline");
    made.rounds(MadeStep());
    for (const char* variant : {"a", "b", "c", "d", "e"}) {
      made.add("w", variant, "variant");
      made.rounds(MadeStep());
    }
    for (const PointSummary& summary : summarize(made.run)) {
      if (summary.verdict.find("faster") != std::string::npos || summary.verdict.find("slower") != std::string::npos)
        ++claims;
    }
  }
  EXPECT_LE(claims, 10) << "of 250";
}

TEST(Summary, ConfirmsTheWinnerOnRoundsThatDidNotChooseIt) {
  const MadeRun made = whole_made_run();
  const auto all = summarize(made.run);
  const Winner best = winner(all, made.run, "wide-mlp");
  ASSERT_NE(best.point, nullptr);
  EXPECT_EQ(best.point->variant, "ring");
  EXPECT_TRUE(best.faster);
  EXPECT_EQ(best.confirmed.rounds, 7);
  EXPECT_NE(best.sentence.find("on the 7 rounds that did not choose it"), std::string::npos) << best.sentence;
}

// A variant that is fast only in the rounds that choose must not win.
TEST(Summary, LuckInTheChoosingRoundsDoesNotWin) {
  MadeRun made;
  made.add("w", "mpi_allreduce", "baseline");
  made.rounds(MadeStep());
  made.add("w", "ring", "variant");
  made.rounds(MadeStep());
  for (result::Block& block : made.run.blocks) {
    if (block.point != 1 || block.round % 2 != 0) continue;
    for (double& us : block.step_us) us *= 0.5;
  }
  const Winner best = winner(summarize(made.run), made.run, "w");
  EXPECT_FALSE(best.faster);
  EXPECT_EQ(best.sentence.rfind("leave it as it is", 0), 0U) << best.sentence;
}

TEST(Summary, BandwidthsFollowTheirDefinitions) {
  MadeRun made(4);
  made.add("w", "ring", "variant");
  made.rounds(MadeStep());
  const auto all = summarize(made.run);
  EXPECT_NEAR(all[0].communication_s, 18e-3, 0.3e-3);
  EXPECT_NEAR(all[0].algbw_gb_per_s, 12.8e6 / all[0].communication_s * 1e-9, 1e-9);
  EXPECT_NEAR(all[0].busbw_gb_per_s, all[0].algbw_gb_per_s * 2 * 3 / 4, 1e-9);
  EXPECT_NEAR(all[0].hidden_share, 10.0 / 18.0, 1e-6);
}

TEST(Summary, OneRankHasNoBandwidth) {
  MadeRun made(1);
  made.add("w", "ring", "variant");
  made.rounds(MadeStep());
  EXPECT_EQ(summarize(made.run)[0].algbw_gb_per_s, 0);
}

TEST(Summary, SharesAddUpToTheStep) {
  const MadeRun made = whole_made_run();
  for (const PointSummary& summary : summarize(made.run)) {
    double sum = 0;
    for (const double share : summary.share) sum += share;
    EXPECT_NEAR(sum, summary.rounds > 0 ? 1 : 0, 1e-9) << summary.label;
  }
}

TEST(Summary, OverheadIsStepMinusTwinAndInterferenceIsWhatTheAccountsDoNotExplain) {
  const MadeRun made = whole_made_run();
  const auto all = summarize(made.run);
  const PointSummary& ring = named(all, "ring");
  EXPECT_NEAR(ring.overhead_s, 9e-3, 2e-3);
  EXPECT_NEAR(ring.interference_s, 0, 2e-3);
  EXPECT_EQ(named(all, "no communication").overhead_s, 0);
}

TEST(Summary, ScalingEfficiencyComparesSamplesASecondARank) {
  const MadeRun made = whole_made_run();
  EXPECT_NEAR(named(summarize(made.run), "ring").scaling_efficiency, 94.0 / 103.0, 0.02);
}

TEST(Summary, RowsOfTheSameScheduleShareALabel) {
  const MadeRun made = whole_made_run();
  const auto all = summarize(made.run);
  EXPECT_EQ(named(all, "ring").label, "ring = direct");
  EXPECT_FALSE(is_row(named(all, "direct")));
}

TEST(Summary, PointsOfOneVariantAreToldApart) {
  MadeRun made;
  for (const char* bucket : {"64K", "4M"}) {
    result::Point& point = made.add("w", "ring", "variant");
    point.name = std::string("w/ring bucket=") + bucket;
    made.rounds(MadeStep());
  }
  const auto all = summarize(made.run);
  EXPECT_EQ(all[0].label, "ring bucket=64K");
  EXPECT_EQ(all[1].label, "ring bucket=4M");
}

// With a bucket size swept beside the algorithm, each is held against the library with the same bucket.
TEST(Summary, AVariantIsComparedWithTheLibraryUnderTheSameSettings) {
  MadeRun made;
  MadeStep slow;
  slow.transfer = 80;
  for (const bool large : {false, true}) {
    for (const bool library : {true, false}) {
      result::Point& point = made.add("w", library ? "mpi_allreduce" : "ring", library ? "baseline" : "variant");
      point.settings = {{"communication.collective", point.variant}, {"communication.bucket", large ? "4M" : "4K"}};
      made.rounds(large ? MadeStep() : slow);
    }
  }
  for (const PointSummary& summary : summarize(made.run)) {
    if (summary.point->role != "variant") continue;
    EXPECT_EQ(summary.verdict.rfind("no difference", 0), 0U) << summary.label;
  }
}

TEST(Summary, WarmUpBlocksAreInNoStatistic) {
  MadeRun made;
  made.add("w", "ring", "variant");
  made.rounds(MadeStep());
  const double before = summarize(made.run)[0].step_s.value;
  result::Block warm = made.run.blocks.front();
  warm.warmup = true;
  warm.step_us = {9e9};
  made.run.blocks.insert(made.run.blocks.begin(), warm);
  EXPECT_EQ(summarize(made.run)[0].step_s.value, before);
}

TEST(Summary, ALossThatIsNotFiniteIsMarkedAndNotJudged) {
  MadeRun made = whole_made_run();
  for (result::Block& block : made.run.blocks) {
    if (block.point == 1 && block.round > 9) block.loss[2] = std::numeric_limits<double>::quiet_NaN();
  }
  const auto all = summarize(made.run);
  EXPECT_EQ(named(all, "ring").verdict, "-");
  EXPECT_NE(named(all, "ring").note.find("not finite"), std::string::npos);
  EXPECT_EQ(named(all, "ring").rounds, 10);
}

TEST(Summary, SaysWhenAPointWasMeasuredInTwoGoes) {
  MadeRun made;
  made.add("w", "ring", "variant");
  made.rounds(MadeStep());
  for (result::Block& block : made.run.blocks) block.attempt = block.round > 7 ? 1 : 0;
  EXPECT_TRUE(summarize(made.run)[0].in_two_goes);
}

TEST(Summary, SaysWhenParametersDiffer) {
  MadeRun made;
  made.add("w", "ring", "variant");
  made.rounds(MadeStep());
  made.run.ends[0].parameters_equal = false;
  EXPECT_NE(summarize(made.run)[0].note.find("PARAMETERS DIFFER"), std::string::npos);
}

TEST(Summary, TheCostOfRecordingIsPaired) {
  MadeRun made;
  made.add("w", "mpi_allreduce", "baseline");
  made.rounds(MadeStep());
  made.add("w", "recorder off", "unrecorded");
  made.rounds(MadeStep());
  const Comparison cost = recording_cost(made.run);
  EXPECT_EQ(cost.rounds, 15);
  EXPECT_LE(cost.interval.low, 1.01);
  EXPECT_GE(cost.interval.high, 0.99);
  EXPECT_FALSE(is_row(summarize(made.run)[1]));
}

TEST(Summary, ARunWithoutSamplesIsNotAnError) {
  MadeRun made;
  EXPECT_TRUE(summarize(made.run).empty());
  made.add("w", "ring", "variant");
  const auto all = summarize(made.run);
  EXPECT_EQ(all[0].rounds, 0);
  EXPECT_EQ(winner(all, made.run, "w").point, nullptr);
  EXPECT_EQ(recording_cost(made.run).rounds, 0);
}

}  // namespace
}  // namespace ringmaster::report
