// SPDX-License-Identifier: Apache-2.0
#include "report/compare.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "made_run.hpp"

namespace ringmaster::report {
namespace {

MadeRun run_with(double transfer_ms, int offset = 0) {
  MadeRun made;
  made.run.config_hash = "same";
  for (int i = 0; i < offset; ++i) made.add("other", "point" + std::to_string(i), "variant");
  MadeStep step;
  step.transfer = transfer_ms;
  made.add("w", "ring", "variant");
  made.rounds(step);
  return made;
}

TEST(Compare, PairsRoundsOfTheSameConfigOnTheSameMachine) {
  const RunComparison comparison = compare(run_with(8).run, run_with(30).run);
  EXPECT_EQ(comparison.pairing, Pairing::paired);
  ASSERT_EQ(comparison.points.size(), 1U);
  EXPECT_NE(comparison.points[0].verdict.find("slower"), std::string::npos) << comparison.points[0].verdict;
  EXPECT_NEAR(comparison.points[0].slowdown(), 22.0 / 103.0, 0.01);
}

TEST(Compare, AnotherMachineOrConfigIsNotPaired) {
  MadeRun other = run_with(30, 1);
  other.run.machine.processor = "another";
  const RunComparison machine = compare(run_with(8).run, other.run);
  EXPECT_EQ(machine.pairing, Pairing::unpaired);
  EXPECT_NE(machine.points[0].verdict.find("slower"), std::string::npos) << machine.points[0].verdict;
  EXPECT_EQ(machine.warnings.at(0).rfind("processors differ", 0), 0U);
  other = run_with(30);
  other.run.config_hash = "another";
  EXPECT_EQ(compare(run_with(8).run, other.run).pairing, Pairing::unpaired);
}

TEST(Compare, ARunAgainstItselfHasNoDifferenceAndNoRegression) {
  const MadeRun made = whole_made_run();
  const RunComparison comparison = compare(made.run, made.run);
  EXPECT_EQ(comparison.points.size(), 5U);
  for (const ComparedPoint& point : comparison.points) EXPECT_FALSE(point.significant()) << point.verdict;
  EXPECT_TRUE(regressions(comparison, 0).empty());
}

TEST(Compare, ARegressionMustPassTheThresholdAndBeSignificant) {
  const RunComparison comparison = compare(run_with(8).run, run_with(30).run);
  EXPECT_EQ(regressions(comparison, 0.05).size(), 1U);
  EXPECT_TRUE(regressions(comparison, 0.50).empty());
  EXPECT_TRUE(regressions(compare(run_with(30).run, run_with(8).run), 0.0).empty()) << "faster is no regression";
  EXPECT_TRUE(regressions(compare(run_with(8).run, run_with(8, 3).run), 0.0).empty()) << "noise is no regression";
}

TEST(Compare, NamesWhatOnlyOneOfThemHas) {
  MadeRun more = run_with(8);
  more.add("w", "tree", "variant");
  more.rounds(MadeStep());
  EXPECT_EQ(compare(run_with(8).run, more.run).only_after, std::vector<std::string>{"w/tree"});
  EXPECT_EQ(compare(more.run, run_with(8).run).only_before, std::vector<std::string>{"w/tree"});
}

TEST(Compare, RefusesWhatHasNothingInCommon) {
  MadeRun other;
  other.add("x", "y", "variant");
  other.rounds(MadeStep());
  EXPECT_THROW(compare(run_with(8).run, other.run), UserError);
  MadeRun bench;
  bench.run.kind = "bench";
  EXPECT_THROW(compare(run_with(8).run, bench.run), UserError);
}

TEST(Compare, LetsNoNameMoveTheCursorWhenItRefuses) {
  MadeRun other;
  other.add("x\x1b[2J", "y", "variant");
  other.rounds(MadeStep());
  try {
    compare(run_with(8).run, other.run);
    FAIL() << "nothing in common passes";
  } catch (const UserError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_NE(text.find("x?[2J"), std::string::npos) << text;
  }
}

TEST(Compare, ComparesBenchSizeBySize) {
  result::Run before;
  before.kind = "bench";
  for (const std::int64_t bytes : {1024, 65536}) {
    result::BenchRow row;
    row.variant = "ring";
    row.bytes = bytes;
    row.type = "float32";
    for (int i = 0; i < 15; ++i) row.out_of_place.samples_us.push_back(100 + i % 3);
    before.rows.push_back(row);
  }
  result::Run after = before;
  for (double& us : after.rows[1].out_of_place.samples_us) us *= 2;
  const RunComparison comparison = compare(before, after);
  ASSERT_EQ(comparison.points.size(), 2U);
  EXPECT_EQ(comparison.points[1].name, "ring 64K float32 out of place");
  EXPECT_EQ(regressions(comparison, 0.5).size(), 1U);
}

TEST(Compare, DescribesItself) {
  const std::string text = describe(compare(run_with(8).run, run_with(30).run));
  EXPECT_NE(text.find("w/ring"), std::string::npos);
  EXPECT_NE(text.find("1.21x slower ["), std::string::npos) << text;
}

}  // namespace
}  // namespace ringmaster::report
