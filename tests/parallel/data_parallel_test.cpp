// SPDX-License-Identifier: Apache-2.0
// What data parallel training computes: the same as one rank with all samples, whatever moves the gradients.
#include "parallel/data_parallel.hpp"

#include <gtest/gtest.h>

#include <mutex>

#include "base/error.hpp"
#include "training.hpp"
#include "transport/threads.hpp"

namespace ringmaster::parallel {
namespace {

using test::distance;
using test::Rank;
using test::small_options;

struct Outcome {
  std::vector<float> parameters;      // rank 0's
  std::vector<std::uint64_t> hashes;  // of the parameters, by rank
  std::vector<double> losses;         // mean over ranks
  double held_out = 0;
};

Outcome train(int ranks, const DataParallelOptions& options, int steps) {
  Outcome outcome;
  outcome.hashes.resize(static_cast<std::size_t>(ranks));
  outcome.losses.resize(static_cast<std::size_t>(steps));
  std::mutex mutex;
  transport::run_as_threads(ranks, [&](transport::ProcessGroup& group) {
    Rank rank(group, options);
    const std::vector<double> losses = rank.steps(steps);
    const double held_out = rank.trainer->held_out_loss(*rank.dataset, 25);
    const std::lock_guard lock(mutex);
    for (std::size_t i = 0; i < losses.size(); ++i) outcome.losses[i] += losses[i] / ranks;
    outcome.hashes[static_cast<std::size_t>(group.rank())] = rank.trainer->parameter_hash();
    if (group.rank() == 0) outcome.parameters = rank.parameters();
    if (group.rank() == 0) outcome.held_out = held_out;
  });
  return outcome;
}

void expect_equal_ranks(const Outcome& outcome) {
  for (const std::uint64_t hash : outcome.hashes) EXPECT_EQ(hash, outcome.hashes.front());
}

TEST(DataParallel, ManyRanksEqualOneRankWithAllTheirSamples) {
  for (const int ranks : {2, 3, 4}) {
    DataParallelOptions options = small_options();
    const Outcome together = train(ranks, options, 15);
    options.batch *= ranks;
    const Outcome alone = train(1, options, 15);
    EXPECT_LT(distance(alone.parameters, together.parameters), 1e-5) << ranks;
    for (std::size_t i = 0; i < alone.losses.size(); ++i) EXPECT_NEAR(alone.losses[i], together.losses[i], 1e-5);
    EXPECT_NEAR(alone.held_out, together.held_out, 1e-5);
    expect_equal_ranks(together);
  }
}

TEST(DataParallel, ReallyLearns) {
  DataParallelOptions options = small_options();
  options.optimizer.kind = model::OptimizerKind::adamw;
  options.optimizer.learning_rate = 0.01;
  const Outcome outcome = train(2, options, 150);
  EXPECT_LT(outcome.losses.back(), 0.5 * outcome.losses.front());
}

TEST(DataParallel, OverlapAndTheEnginesThreadChangeNoBit) {
  for (const int ranks : {2, 3}) {
    DataParallelOptions options = small_options();
    options.overlap = false;
    const Outcome expected = train(ranks, options, 8);
    for (const bool overlap : {false, true}) {
      for (const auto mode : {collective::EngineMode::inline_progress, collective::EngineMode::own_thread}) {
        options.overlap = overlap;
        options.engine.mode = mode;
        EXPECT_EQ(train(ranks, options, 8).hashes, expected.hashes) << ranks << " ranks, overlap " << overlap;
      }
    }
    expect_equal_ranks(expected);
  }
}

TEST(DataParallel, VariantsAgreeAfterTwentyStepsAndRanksHoldTheSameBytes) {
  for (const int ranks : {2, 3, 4}) {
    DataParallelOptions options = small_options();
    const Outcome ring = train(ranks, options, 20);
    int variants = 0;
    for (const collective::VariantInfo& variant : collective::allreduce_variants()) {
      options.allreduce = {};
      options.allreduce.algorithm = variant.name;
      if (variant.is_library || !collective::supports(options.allreduce, ranks)) continue;
      const Outcome other = train(ranks, options, 20);
      EXPECT_LT(distance(ring.parameters, other.parameters), 1e-5) << variant.name;
      expect_equal_ranks(other);
      ++variants;
    }
    EXPECT_GE(variants, 3);
  }
}

TEST(DataParallel, BucketSizeChangesOnlyRounding) {
  DataParallelOptions options = small_options();
  const Outcome small = train(3, options, 10);
  for (const std::int64_t bytes : {std::int64_t{64}, std::int64_t{4096}, std::int64_t{1} << 30}) {
    options.bucket_bytes = bytes;
    EXPECT_LT(distance(small.parameters, train(3, options, 10).parameters), 1e-5) << bytes;
  }
}

TEST(DataParallel, AccumulationEqualsTheLargeBatch) {
  for (const int ranks : {1, 2}) {
    DataParallelOptions options = small_options();
    options.batch = 12;
    const Outcome large = train(ranks, options, 10);
    options.batch = 4;
    options.micro_batches = 3;
    const Outcome accumulated = train(ranks, options, 10);
    EXPECT_LT(distance(large.parameters, accumulated.parameters), 1e-5);
    EXPECT_NEAR(large.losses.back(), accumulated.losses.back(), 1e-5);
  }
}

TEST(DataParallel, ClipsTheNormOfTheMeanGradient) {
  DataParallelOptions options = small_options();
  options.clip_norm = 1e-3;  // below any gradient here
  options.optimizer.momentum = 0;
  options.optimizer.weight_decay = 0;
  transport::run_as_threads(2, [&](transport::ProcessGroup& group) {
    Rank rank(group, options);
    const std::vector<float> before = rank.parameters();
    const StepResult result = rank.trainer->step(rank.loader);
    double gradient = 0;
    for (const float value : rank.trainer->gradients()) gradient += std::pow(static_cast<double>(value) / 2, 2);
    EXPECT_NEAR(result.gradient_norm, std::sqrt(gradient), 1e-6 * result.gradient_norm);
    double moved = 0;
    const std::vector<float> after = rank.parameters();
    for (std::size_t i = 0; i < after.size(); ++i) {
      moved += std::pow(static_cast<double>(after[i]) - static_cast<double>(before[i]), 2);
    }
    EXPECT_NEAR(std::sqrt(moved), options.clip_norm * options.optimizer.learning_rate, 1e-6);
  });
  options.clip_norm = 1e6;  // above any: changes nothing
  const Outcome clipped = train(2, options, 5);
  options.clip_norm = 0;
  EXPECT_EQ(clipped.hashes, train(2, options, 5).hashes);
}

TEST(DataParallel, ALossThatIsNoNumberIsReportedAndEndsNothing) {
  DataParallelOptions options = small_options();
  options.optimizer.learning_rate = 1e30;
  options.clip_norm = 1e30;
  const Outcome outcome = train(2, options, 12);
  EXPECT_FALSE(std::isfinite(outcome.losses.back()));
}

TEST(DataParallel, TheTwinRunsWithoutAnyoneElse) {
  DataParallelOptions options = small_options();
  options.communication = Communication::none;
  std::vector<std::uint64_t> hashes(3);
  transport::run_as_threads(3, [&](transport::ProcessGroup& group) {
    Rank rank(group, options);
    if (group.rank() == 2) return;  // the others train on: nothing waits for it
    for (const double loss : rank.steps(10)) EXPECT_TRUE(std::isfinite(loss));
    hashes[static_cast<std::size_t>(group.rank())] = rank.trainer->parameter_hash();
    EXPECT_TRUE(rank.engine.events().empty());
    for (const Event& event : rank.main.events()) {
      EXPECT_TRUE(event.label != Label::bucket_enqueued && event.label != Label::exposed_wait &&
                  event.label != Label::progress);
    }
  });
  EXPECT_NE(hashes[0], hashes[1]);  // each on its own samples
}

TEST(DataParallel, HashesSeeOneFlippedBit) {
  transport::run_as_threads(2, [](transport::ProcessGroup& group) {
    Rank rank(group, small_options());
    rank.steps(2);
    const auto buckets =
        transport::gather_vectors(group, std::span<const std::uint64_t>(rank.trainer->bucket_hashes()));
    EXPECT_EQ(buckets[0], buckets[1]);
    EXPECT_EQ(buckets[0].size(), rank.trainer->buckets().size());
    const std::uint64_t before = rank.trainer->parameter_hash();
    float& value = rank.trainer->parameters()[17];
    value = std::nextafter(value, 2.0F);
    EXPECT_NE(rank.trainer->parameter_hash(), before);
  });
}

TEST(DataParallel, HeldOutLossHasNoValueWithoutSamples) {
  transport::run_as_threads(2, [](transport::ProcessGroup& group) {
    Rank rank(group, small_options());
    EXPECT_TRUE(std::isnan(rank.trainer->held_out_loss(*rank.dataset, 0)));
    EXPECT_GT(rank.trainer->held_out_loss(*rank.dataset, 1), 0);  // fewer samples than ranks
  });
}

}  // namespace
}  // namespace ringmaster::parallel
