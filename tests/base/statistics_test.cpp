// SPDX-License-Identifier: Apache-2.0
#include "base/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.hpp"

namespace ringmaster {
namespace {

std::vector<double> noisy(double center, int n, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(center * (1 + 0.02 * random.normal()));
  return values;
}

TEST(Median, OfOddAndEvenCountsAndOfNone) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 2, 3}), 2.5);
  EXPECT_TRUE(std::isnan(median(std::vector<double>{})));
  EXPECT_EQ(median_deviation(std::vector<double>{1, 1, 2, 2, 4, 6, 9}), 1);
}

TEST(Percentile, AnswersOnlyWithTenSamplesBeyondIt) {
  std::vector<double> values;
  for (int i = 1; i <= 100; ++i) values.push_back(i);
  EXPECT_EQ(percentile(values, 90), 90);
  EXPECT_EQ(percentile(values, 10), 10);
  EXPECT_TRUE(std::isnan(percentile(values, 95)));
  EXPECT_EQ(percentile(values, 50), 50.5);
}

TEST(EstimateMedian, CoversTheTrueMedianAboutAsOftenAsItSays) {
  int covered = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Estimate estimate = estimate_median(noisy(10, 25, seed), seed);
    if (estimate.interval.low <= 10 && 10 <= estimate.interval.high) ++covered;
  }
  EXPECT_GE(covered, 176);
  EXPECT_LE(covered, 200);
}

TEST(EstimateMedian, SaysTheSameForTheSameSamples) {
  const auto values = noisy(10, 30, 4);
  EXPECT_EQ(estimate_median(values).interval.low, estimate_median(values).interval.low);
}

TEST(ComparePaired, FindsADifferenceThatOnlyPairingShows) {
  // Rounds drift by 2x; within a round the candidate is 5 % faster.
  std::vector<double> baseline;
  std::vector<double> candidate;
  Random random(7);
  for (int i = 0; i < 30; ++i) {
    const double machine = 1 + static_cast<double>(i % 10) / 10;
    baseline.push_back(machine * (1 + 0.01 * random.normal()));
    candidate.push_back(machine / 1.05 * (1 + 0.01 * random.normal()));
  }
  const Comparison paired = compare_paired(baseline, candidate);
  EXPECT_GT(paired.interval.low, 1.03);
  EXPECT_LT(paired.interval.high, 1.07);
  EXPECT_LT(paired.p_value, 0.01);
  EXPECT_GT(compare_unpaired(baseline, candidate).p_value, 0.05);
}

TEST(ComparePaired, IsSymmetric) {
  const auto a = noisy(10, 21, 1);
  const auto b = noisy(12, 21, 2);
  EXPECT_NEAR(compare_paired(a, b).ratio * compare_paired(b, a).ratio, 1, 1e-12);
}

TEST(ComparePaired, RarelyClaimsADifferenceThatIsNotThere) {
  int claimed = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Comparison c = compare_paired(noisy(10, 20, 2 * seed), noisy(10, 20, 2 * seed + 1), seed);
    if (verdict(c, c.p_value).rfind("no difference", 0) != 0) ++claimed;
  }
  EXPECT_LE(claimed, 24);
}

TEST(SignedRank, AgreesWithPublishedValues) {
  // scipy.stats.wilcoxon's own example (Darwin's plants): statistic 24, p = 0.041259765625.
  const std::vector<double> plants{6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75};
  EXPECT_NEAR(signed_rank_p(plants), 0.041259765625, 1e-12);
  EXPECT_EQ(signed_rank_p(std::vector<double>{0, 0}), 1);
  EXPECT_DOUBLE_EQ(signed_rank_p(std::vector<double>{1, 1, 1, 1, 1}), 2.0 / 32);
}

TEST(SignedRank, LeavesRoomForATableOfAHundredVerdicts) {
  const std::vector<double> always(15, 0.1);
  EXPECT_LT(100 * signed_rank_p(always), 0.05);
  const std::vector<double> many(60, 0.1);
  EXPECT_LT(signed_rank_p(many), 1e-9);
}

TEST(MannWhitney, AgreesWithPublishedValues) {
  // Checked against scipy.stats.mannwhitneyu(method="asymptotic").
  const std::vector<double> a{19, 22, 16, 29, 24};
  const std::vector<double> b{20, 11, 17, 12};
  EXPECT_NEAR(mann_whitney_p(a, b), 0.1113468, 1e-6);
  EXPECT_EQ(mann_whitney_p(std::vector<double>{1, 1}, std::vector<double>{1, 1}), 1);
}

TEST(Holm, AdjustsInOrderAndNeverOverOne) {
  const std::vector<double> adjusted = holm(std::vector<double>{0.01, 0.04, 0.03, 0.5});
  EXPECT_NEAR(adjusted[0], 0.04, 1e-12);
  EXPECT_NEAR(adjusted[2], 0.09, 1e-12);
  EXPECT_NEAR(adjusted[1], 0.09, 1e-12);
  EXPECT_NEAR(adjusted[3], 0.5, 1e-12);
  EXPECT_TRUE(holm(std::vector<double>{}).empty());
}

TEST(Verdict, ClaimsOnlyWhatPAndIntervalBothSupport) {
  EXPECT_EQ(verdict({1.31, {1.24, 1.38}, 0.001, 20}, 0.001), "1.31x faster [1.24, 1.38]");
  EXPECT_EQ(verdict({0.8, {0.5, 0.9}, 0.001, 20}, 0.001), "1.25x slower [1.11, 2.00]");
  EXPECT_EQ(verdict({1.31, {1.24, 1.38}, 0.04, 20}, 0.2), "no difference [1.24, 1.38]");
  EXPECT_EQ(verdict({1.01, {0.99, 1.03}, 0.001, 20}, 0.001), "no difference [0.99, 1.03]");
}

}  // namespace
}  // namespace ringmaster
