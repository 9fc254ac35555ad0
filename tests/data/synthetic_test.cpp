// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "data/dataset.hpp"

namespace ringmaster::data {
namespace {

std::unique_ptr<Dataset> synthetic(const SampleShape& shape, std::uint64_t seed = 1, double noise = 0.1) {
  DataChoice choice;
  choice.kind = "synthetic";
  choice.seed = seed;
  choice.parameters.set("samples", std::int64_t{2000});
  choice.parameters.set("noise", noise);
  return make_dataset(choice, shape);
}

const SampleShape token_shape{true, 64, 50, 0};
const SampleShape feature_shape{false, 32, 0, 8};

Batch batch_of(const Dataset& data, std::int64_t first, std::int64_t count) {
  Batch batch;
  batch.reserve(data.shape(), count);
  for (std::int64_t i = 0; i < count; ++i) data.fill(first + i, i, batch);
  return batch;
}

TEST(Synthetic, HoldsOutAShareAndDependsOnlyOnSeedAndSample) {
  for (const SampleShape& shape : {token_shape, feature_shape}) {
    const auto data = synthetic(shape);
    EXPECT_EQ(data->size(), 1900);
    EXPECT_EQ(data->held_out_size(), 100);
    const Batch once = batch_of(*data, 5, 3);
    const Batch again = batch_of(*synthetic(shape), 5, 3);
    EXPECT_EQ(once.tokens, again.tokens);
    EXPECT_EQ(once.labels, again.labels);
    const Batch other = batch_of(*synthetic(shape, 2), 5, 3);
    EXPECT_TRUE(once.tokens != other.tokens || once.features != other.features);
    const Batch next = batch_of(*data, 6, 3);
    EXPECT_TRUE(once.tokens != next.tokens || once.features != next.features);
  }
}

TEST(Synthetic, TokensFollowAChainOfFewSuccessors) {
  const auto data = synthetic(token_shape);
  const Batch batch = batch_of(*data, 0, 400);
  std::map<std::int32_t, std::map<std::int32_t, double>> pairs;
  std::map<std::int32_t, double> singles;
  for (std::size_t i = 0; i < batch.tokens.size(); ++i) {
    ASSERT_GE(batch.tokens[i], 0);
    ASSERT_LT(batch.tokens[i], 50);
    if (i % 64 != 63) {
      ASSERT_EQ(batch.targets[i], batch.tokens[i + 1]);
    }
    ++pairs[batch.tokens[i]][batch.targets[i]];
    ++singles[batch.targets[i]];
  }
  const auto total = static_cast<double>(batch.tokens.size());
  double unigram = 0;
  for (const auto& [token, count] : singles) unigram -= count / total * std::log(count / total);
  double conditional = 0;
  for (const auto& [token, successors] : pairs) {
    EXPECT_LE(successors.size(), 4U);
    double sum = 0;
    for (const auto& [next, count] : successors) sum += count;
    for (const auto& [next, count] : successors) conditional -= count / total * std::log(count / sum);
  }
  EXPECT_NEAR(data->unigram_entropy(), unigram, 0.02);
  EXPECT_LT(conditional, 1.22);  // 1.213 where the successors differ
  EXPECT_GT(unigram, conditional + 1);
}

TEST(Synthetic, LabelsAreALinearFunctionOfFeatures) {
  const auto data = synthetic(feature_shape, 3, 0.0);
  const auto noisy = synthetic(feature_shape, 3, 0.1);
  const std::int64_t count = 500;
  const Batch clean = batch_of(*data, 0, count);
  const Batch with_noise = batch_of(*noisy, 0, count);
  EXPECT_EQ(clean.features, with_noise.features);
  double noise = 0;
  double signal = 0;
  double mean = 0;
  double square = 0;
  for (std::size_t i = 0; i < clean.labels.size(); ++i) {
    noise += std::pow(static_cast<double>(with_noise.labels[i] - clean.labels[i]), 2);
    signal += std::pow(static_cast<double>(clean.labels[i]), 2);
  }
  for (const float value : clean.features) {
    mean += static_cast<double>(value);
    square += static_cast<double>(value) * static_cast<double>(value);
  }
  const auto labels = static_cast<double>(clean.labels.size());
  const auto features = static_cast<double>(clean.features.size());
  EXPECT_NEAR(std::sqrt(noise / labels), 0.1, 0.01);
  EXPECT_GT(signal / labels, 0.2);
  EXPECT_NEAR(mean / features, 0, 0.05);
  EXPECT_NEAR(square / features, 1, 0.05);
  EXPECT_TRUE(std::isnan(data->unigram_entropy()));
}

TEST(Synthetic, IsListedWithText) {
  std::set<std::string> names;
  for (const DatasetEntry* entry : datasets()) names.insert(entry->name);
  EXPECT_EQ(names, (std::set<std::string>{"text", "synthetic"}));
}

}  // namespace
}  // namespace ringmaster::data
