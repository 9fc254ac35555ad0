// SPDX-License-Identifier: Apache-2.0
#include "data/dataset.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <stdexcept>
#include <thread>

#include "base/clock.hpp"
#include "base/error.hpp"

namespace ringmaster::data {
namespace {

/// Sample i is the token i; can be told to fail, and counts what was asked of it.
class Numbers final : public Dataset {
 public:
  explicit Numbers(std::int64_t size) : size_(size) {}
  std::int64_t size() const override { return size_; }
  std::int64_t held_out_size() const override { return 0; }
  SampleShape shape() const override { return {true, 1, 1 << 30, 0}; }
  void fill(std::int64_t sample, std::int64_t slot, Batch& batch) const override {
    if (filled_.fetch_add(1) == fail_at_.load()) throw std::runtime_error("planted");
    batch.tokens[static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(sample);
  }
  double unigram_entropy() const override { return 0; }
  std::string describe() const override { return "numbers"; }
  std::string fingerprint() const override { return "numbers"; }

  void fail_at(std::int64_t count) { fail_at_ = count; }
  std::int64_t filled() const { return filled_.load(); }

 private:
  std::int64_t size_;
  mutable std::atomic<std::int64_t> filled_{0};
  std::atomic<std::int64_t> fail_at_{-1};
};

LoaderOptions options_of(std::int64_t batch, int rank, int ranks, int threads, int queue = 4) {
  LoaderOptions options;
  options.batch = batch;
  options.rank = rank;
  options.ranks = ranks;
  options.threads = threads;
  options.queue = queue;
  return options;
}

std::vector<std::int32_t> take(Loader& loader, int batches) {
  std::vector<std::int32_t> result;
  for (int i = 0; i < batches; ++i) {
    const Batch& batch = loader.next();
    result.insert(result.end(), batch.tokens.begin(), batch.tokens.end());
  }
  return result;
}

TEST(Loader, GivesNoSampleToTwoRanksAndEachSampleOnceInAnEpoch) {
  for (const int ranks : {1, 2, 3, 5, 8}) {
    for (const std::int64_t size : {8, 24, 31, 120}) {
      const Numbers data(size);
      const std::int64_t per_rank = size / ranks;
      std::multiset<std::int32_t> seen;
      for (int rank = 0; rank < ranks; ++rank) {
        Loader loader(data, options_of(1, rank, ranks, 1));
        for (const std::int32_t sample : take(loader, static_cast<int>(per_rank))) seen.insert(sample);
      }
      EXPECT_EQ(static_cast<std::int64_t>(seen.size()), per_rank * ranks);
      for (const std::int32_t sample : seen) {
        EXPECT_EQ(seen.count(sample), 1U) << "sample " << sample << " of " << size << " on " << ranks << " ranks";
      }
    }
  }
}

TEST(Loader, GivesRanksTogetherTheBatchOfOneRank) {
  const Numbers data(60);
  Loader alone(data, options_of(15, 0, 1, 1));
  const std::vector<std::int32_t> all = take(alone, 1);
  std::multiset<std::int32_t> together;
  for (int rank = 0; rank < 5; ++rank) {
    Loader loader(data, options_of(3, rank, 5, 1));
    for (const std::int32_t sample : take(loader, 1)) together.insert(sample);
  }
  EXPECT_EQ(together, std::multiset<std::int32_t>(all.begin(), all.end()));
}

TEST(Loader, ShufflesEachEpochAnew) {
  const Numbers data(50);
  Loader loader(data, options_of(10, 0, 1, 1));
  const std::vector<std::int32_t> first = take(loader, 5);
  const std::vector<std::int32_t> second = take(loader, 5);
  EXPECT_NE(first, second);
  EXPECT_EQ(std::multiset<std::int32_t>(first.begin(), first.end()),
            std::multiset<std::int32_t>(second.begin(), second.end()));
}

TEST(Loader, KeepsTheOrderWhateverTheThreadCountAndQueue) {
  const Numbers data(101);
  Loader reference(data, options_of(4, 1, 2, 0));
  const std::vector<std::int32_t> expected = take(reference, 60);
  for (const int threads : {1, 2, 5}) {
    for (const int queue : {1, 2, 7}) {
      Loader loader(data, options_of(4, 1, 2, threads, queue));
      EXPECT_EQ(take(loader, 60), expected) << threads << " threads, queue " << queue;
    }
  }
}

TEST(Loader, ContinuesFromASavedStateExactly) {
  const Numbers data(37);
  for (const int threads : {0, 1, 3}) {
    Loader loader(data, options_of(4, 0, 2, threads));
    take(loader, 11);
    const LoaderState saved = loader.state();
    EXPECT_EQ(saved.batches, 11);
    const std::vector<std::int32_t> expected = take(loader, 9);

    Loader fresh(data, options_of(4, 0, 2, threads));
    fresh.restore(saved);
    EXPECT_EQ(take(fresh, 9), expected);
    loader.restore(saved);  // also back, with batches queued
    EXPECT_EQ(take(loader, 9), expected);
    EXPECT_EQ(loader.state().batches, 20);
  }
}

TEST(Loader, KeepsABatchWholeUntilTheNextCall) {
  const Numbers data(1000);
  Loader loader(data, options_of(8, 0, 1, 3, 1));
  for (int i = 0; i < 100; ++i) {
    const Batch& batch = loader.next();
    const std::vector<std::int32_t> copy = batch.tokens;
    std::this_thread::yield();
    ASSERT_EQ(batch.tokens, copy);
  }
}

TEST(Loader, RecyclesItsBatches) {
  const Numbers data(1000);
  Loader loader(data, options_of(8, 0, 1, 2, 3));
  std::set<const std::int32_t*> addresses;
  for (int i = 0; i < 50; ++i) addresses.insert(loader.next().tokens.data());
  EXPECT_LE(addresses.size(), 4U);
}

/// Waits until the threads made what the queue allows (the count stands still above `least`).
std::int64_t settled(const Numbers& data, std::int64_t least) {
  std::int64_t last = -1;
  for (int same = 0; same < 5;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::int64_t now = data.filled();
    same = now == last && now >= least ? same + 1 : 0;
    last = now;
  }
  return last;
}

TEST(Loader, MakesNoMoreThanTheQueueHolds) {
  for (const int threads : {1, 4}) {
    const Numbers data(1000);
    Loader loader(data, options_of(1, 0, 1, threads, 3));
    EXPECT_EQ(settled(data, 3), 3);
    take(loader, 2);
    EXPECT_EQ(settled(data, 5), 5);
  }
}

TEST(Loader, RestsWhilePausedAndGoesOnAfterwards) {
  const Numbers data(1000);
  Loader reference(data, options_of(2, 0, 1, 0));
  const std::vector<std::int32_t> expected = take(reference, 20);
  Loader loader(data, options_of(2, 0, 1, 2, 3));
  std::vector<std::int32_t> got;
  for (int i = 0; i < 20; ++i) {
    loader.pause();
    const std::int64_t before = data.filled();
    std::this_thread::yield();
    EXPECT_EQ(data.filled(), before);
    for (const std::int32_t sample : take(loader, 1)) got.push_back(sample);
  }
  EXPECT_EQ(got, expected);
}

TEST(Loader, MakesTheCallerWaitWhenItIsSlow) {
  const Numbers data(1000);
  LoaderOptions options = options_of(1, 0, 1, 1, 2);
  options.planted_delay_s = 0.004;
  for (const int threads : {0, 1}) {
    options.threads = threads;
    Loader loader(data, options);
    const Nanoseconds begin = now_ns();
    take(loader, 12);
    // Twelve batches cannot come faster than twelve delays, one after the other in one thread.
    EXPECT_GE(to_seconds(now_ns() - begin), 11 * options.planted_delay_s);
  }
}

TEST(Loader, PassesAThreadsErrorToTheCallerWithItsBatch) {
  for (const int threads : {0, 1, 3}) {
    Numbers data(100);
    data.fail_at(8);
    Loader loader(data, options_of(2, 0, 1, threads, 2));
    int good = 0;
    bool failed = false;
    for (int i = 0; i < 12 && !failed; ++i) {
      try {
        loader.next();
        ++good;
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "planted");
        failed = true;
      }
    }
    EXPECT_TRUE(failed) << threads;
    EXPECT_GE(good, 2) << threads;
    EXPECT_EQ(loader.state().batches, good);
  }
}

TEST(Loader, EndsWhileItsQueueIsFullOrItsThreadsAreBusy) {
  const Numbers data(100);
  LoaderOptions options = options_of(1, 0, 1, 3, 2);
  options.planted_delay_s = 0.001;
  for (int i = 0; i < 10; ++i) {
    Loader loader(data, options);
    if (i % 2 == 1) loader.next();
  }
}

TEST(Loader, RefusesWhatCannotWork) {
  const Numbers data(3);
  EXPECT_THROW(Loader(data, options_of(1, 0, 4, 1)), UserError);
  EXPECT_THROW(Loader(data, options_of(0, 0, 1, 1)), UserError);
  EXPECT_THROW(Loader(data, options_of(1, 0, 1, -1)), UserError);
  EXPECT_THROW(Loader(data, options_of(1, 0, 1, 1, 0)), UserError);
  Loader bigger(data, options_of(7, 0, 1, 1));  // a batch may span epochs
  EXPECT_EQ(take(bigger, 1).size(), 7U);
}

}  // namespace
}  // namespace ringmaster::data
