// SPDX-License-Identifier: Apache-2.0
#include "collective/bench.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <mutex>

#include "base/activity.hpp"
#include "transport/threads.hpp"

namespace ringmaster::collective {
namespace {

using transport::ProcessGroup;
using transport::run_as_threads;

BenchOptions small_bench(const std::vector<std::string>& names) {
  BenchOptions options;
  options.sizes = {4, 4096};
  for (const std::string& name : names) {
    options.variants.emplace_back();
    options.variants.back().algorithm = name;
  }
  options.iterations = 2;
  options.warmup = 1;
  options.rounds = 3;
  options.single_calls = 2;
  options.check = true;
  options.waiting = Waiting::yield;
  options.to_common = [](Nanoseconds local) { return local; };
  return options;
}

/// The rows of rank 0.
std::vector<result::BenchRow> all_rows_of(int ranks, const BenchOptions& options) {
  std::vector<result::BenchRow> rows;
  run_as_threads(ranks, [&](ProcessGroup& group) {
    bench(group, options, [&](const result::BenchRow& row) {
      if (group.rank() == 0) rows.push_back(row);
    });
  });
  return rows;
}

/// Those of the variants.
std::vector<result::BenchRow> rows_of(int ranks, const BenchOptions& options) {
  std::vector<result::BenchRow> rows = all_rows_of(ranks, options);
  std::erase_if(rows, [](const result::BenchRow& row) { return row.role == "bound"; });
  return rows;
}

TEST(BenchSizes, GrowByFactorOrByStepInWholeElements) {
  EXPECT_EQ(bench_sizes(4, 64, 0, 4, DataType::float32), (std::vector<std::int64_t>{4, 16, 64}));
  EXPECT_EQ(bench_sizes(8, 24, 8, 2, DataType::float64), (std::vector<std::int64_t>{8, 16, 24}));
  EXPECT_EQ(bench_sizes(1, 10, 0, 2, DataType::float32), (std::vector<std::int64_t>{4, 8}));
  EXPECT_EQ(bench_sizes(7, 7, 0, 2, DataType::float64), (std::vector<std::int64_t>{8}));
}

TEST(BenchSizes, EndOneBeyondTheMostThatAnybodyWouldWaitFor) {
  EXPECT_EQ(bench_sizes(1, std::int64_t{1} << 40, 1, 2, DataType::float32).size(), most_bench_sizes + 1);
  const auto most = static_cast<std::int64_t>(most_bench_sizes);
  EXPECT_EQ(bench_sizes(4, 4 * most, 4, 2, DataType::float32).size(), most_bench_sizes);
}

TEST(Bench, KeepsOneSampleARoundOfEachSideAndFindsNothingWrong) {
  const auto rows = rows_of(3, small_bench({"ring", "tree"}));
  ASSERT_EQ(rows.size(), 4U);
  for (const result::BenchRow& row : rows) {
    EXPECT_EQ(row.count * 4, row.bytes);
    for (const auto* side : {&row.out_of_place, &row.in_place}) {
      ASSERT_EQ(side->samples_us.size(), 3U);
      EXPECT_EQ(side->transfer_us.size(), 6U);
      EXPECT_EQ(side->skew_us.size(), 6U);
      EXPECT_EQ(side->wrong, 0);
      for (const double sample : side->samples_us) EXPECT_GT(sample, 0);
    }
  }
}

TEST(Bench, MeasuresTwoCopiesInTurnsWithTheVariants) {
  int bounds = 0;
  for (const result::BenchRow& row : all_rows_of(2, small_bench({"ring"}))) {
    if (row.role != "bound") continue;
    ++bounds;
    EXPECT_EQ(row.out_of_place.samples_us.size(), 3U);
    EXPECT_EQ(row.in_place.samples_us.size(), 3U);
    EXPECT_EQ(row.in_place.wrong, -1);
  }
  EXPECT_EQ(bounds, 4);  // ordinary and streaming stores, at two sizes
}

TEST(Bench, SumsDoublesToo) {
  BenchOptions options = small_bench({"direct"});
  options.type = DataType::float64;
  options.sizes = {8, 8000};
  for (const result::BenchRow& row : rows_of(4, options)) {
    EXPECT_EQ(row.out_of_place.wrong, 0);
    EXPECT_EQ(row.in_place.wrong, 0);
  }
}

TEST(Bench, ShowsTheSameScheduleOnceAndSaysWhyOneIsMissing) {
  const auto rows = rows_of(2, small_bench({"ring", "rabenseifner"}));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].same_as, std::vector<std::string>{"rabenseifner"});
}

TEST(Bench, LeavesOutWhatTheClockCannotTell) {
  BenchOptions options = small_bench({"ring"});
  options.clock_residual_s = 3600;
  for (const result::BenchRow& row : rows_of(2, options)) {
    EXPECT_TRUE(row.out_of_place.transfer_us.empty());
    EXPECT_TRUE(row.in_place.skew_us.empty());
    EXPECT_EQ(row.in_place.samples_us.size(), 3U);
  }
}

TEST(Bench, ReportsProgressAndNamesNothingOnceItIsOver) {
  BenchOptions options = small_bench({"ring"});
  std::mutex mutex;
  std::vector<int> done;
  options.progress = [&](int now, int total, const std::string&) {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(total, 2);
    done.push_back(now);
  };
  rows_of(1, options);
  EXPECT_EQ(done, (std::vector<int>{1, 2}));
  EXPECT_STREQ(activity().operation.load(), "");
}

}  // namespace
}  // namespace ringmaster::collective
