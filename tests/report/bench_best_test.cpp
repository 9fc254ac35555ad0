// SPDX-License-Identifier: Apache-2.0
#include "report/bench_best.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ringmaster::report {
namespace {

result::BenchRow row(const char* variant, const char* role, std::vector<double> samples_us) {
  result::BenchRow made;
  made.variant = variant;
  made.role = role;
  made.bytes = 4096;
  made.out_of_place.samples_us = std::move(samples_us);
  return made;
}

TEST(BestRows, ChooseInEverySecondRoundAndCompareInTheOthers) {
  result::Run run;
  run.kind = "bench";
  // "lucky" is best where it is chosen (rounds 0, 2, 4), and three times as slow in the rounds that confirm.
  run.rows = {row("steady", "variant", {20, 20, 20, 20, 20, 20}), row("lucky", "variant", {10, 30, 10, 30, 10, 30}),
              row("library", "baseline", {90, 90, 90, 90, 90, 90}), row("forced", "library", {60, 60, 60, 60, 60, 60}),
              row("copy", "bound", {15, 15, 15, 15, 15, 15})};
  const std::vector<BestRow> rows = best_rows(run);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].own, "lucky");
  EXPECT_EQ(rows[0].library, "forced");
  EXPECT_DOUBLE_EQ(rows[0].own_us, 30);
  EXPECT_DOUBLE_EQ(rows[0].comparison.ratio, 2);
  EXPECT_EQ(rows[0].comparison.rounds, 3);
  EXPECT_DOUBLE_EQ(rows[0].bound_share, 0.5);
  EXPECT_DOUBLE_EQ(mean_ratio(rows, BenchPlacement::out_of_place), 2);
  EXPECT_TRUE(std::isnan(mean_ratio(rows, BenchPlacement::in_place)));
}

TEST(BestRows, SayNothingOfWhatWasNotMeasured) {
  result::Run run;
  run.kind = "bench";
  run.rows = {row("ring", "variant", {20, 20})};
  const std::vector<BestRow> rows = best_rows(run);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_TRUE(rows[0].library.empty());
  EXPECT_EQ(rows[0].comparison.rounds, 0);
  EXPECT_TRUE(std::isnan(rows[0].bound_share));
  run.rows = {row("ring", "variant", {20})};  // one round cannot choose and confirm
  EXPECT_TRUE(best_rows(run).empty());
}

}  // namespace
}  // namespace ringmaster::report
