// SPDX-License-Identifier: Apache-2.0
// What every dataset promises, over the registry. A dataset that needs a path gets the project's own sources.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "data/dataset.hpp"

namespace ringmaster::data {

void PrintTo(const DatasetEntry* entry, std::ostream* out);  // or CTest lists bytes as the parameter's value
void PrintTo(const DatasetEntry* entry, std::ostream* out) { *out << entry->name; }

namespace {

const SampleShape token_shape{true, 32, 256, 0};
const SampleShape feature_shape{false, 12, 0, 5};

class EveryDataset : public testing::TestWithParam<const DatasetEntry*> {
 protected:
  static DataChoice choice(std::uint64_t seed = 1) {
    DataChoice result;
    result.kind = GetParam()->name;
    result.path = RINGMASTER_SOURCE_DIR "/src/data";
    result.seed = seed;
    result.parameters = default_parameters(GetParam()->parameters);
    return result;
  }
  static std::vector<SampleShape> shapes() {
    std::vector<SampleShape> result;
    for (const SampleShape& shape : {token_shape, feature_shape}) {
      if (GetParam()->supports(choice(), shape)) result.push_back(shape);
    }
    return result;
  }
  static Batch batch_of(const Dataset& data, std::int64_t first, std::int64_t count) {
    Batch batch;
    batch.reserve(data.shape(), count);
    for (std::int64_t i = 0; i < count; ++i) data.fill(first + i, i, batch);
    return batch;
  }
};

bool same(const Batch& a, const Batch& b) {
  return a.tokens == b.tokens && a.targets == b.targets && a.features == b.features && a.labels == b.labels;
}

TEST_P(EveryDataset, SaysWhatItIsAndServesSomeModel) {
  EXPECT_GT(std::string(GetParam()->summary).size(), 10U);
  EXPECT_FALSE(shapes().empty());
  for (const SampleShape& shape : shapes()) {
    const auto data = make_dataset(choice(), shape);
    EXPECT_EQ(data->describe().rfind(GetParam()->name, 0), 0U) << data->describe();
    EXPECT_EQ(data->describe().find('\n'), std::string::npos);
    EXPECT_EQ(data->shape().length, shape.length);
  }
}

TEST_P(EveryDataset, RefusesWithAReasonWhatItCannotServe) {
  for (const SampleShape& shape : {token_shape, feature_shape, SampleShape{true, 0, 256, 0}}) {
    const Verdict verdict = GetParam()->supports(choice(), shape);
    if (verdict) continue;
    EXPECT_FALSE(verdict.reason.empty());
    EXPECT_THROW(make_dataset(choice(), shape), UserError);
  }
  EXPECT_FALSE(GetParam()->supports(choice(), SampleShape{true, 0, 256, 0}));
}

TEST_P(EveryDataset, HoldsSamplesOutByDefault) {
  for (const SampleShape& shape : shapes()) {
    const auto data = make_dataset(choice(), shape);
    EXPECT_GT(data->held_out_size(), 0);
    EXPECT_GT(data->size(), data->held_out_size());
  }
}

TEST_P(EveryDataset, GivesTheSameSampleEachTimeAndFromSeveralThreads) {
  for (const SampleShape& shape : shapes()) {
    const auto data = make_dataset(choice(), shape);
    const std::int64_t last = data->size() + data->held_out_size() - 6;
    const Batch expected = batch_of(*data, last, 6);
    EXPECT_TRUE(same(expected, batch_of(*make_dataset(choice(), shape), last, 6)));
    std::vector<Batch> got(3);
    std::vector<std::thread> threads;
    for (Batch& batch : got) threads.emplace_back([&batch, &data, last] { batch = batch_of(*data, last, 6); });
    for (std::thread& thread : threads) thread.join();
    for (const Batch& batch : got) EXPECT_TRUE(same(expected, batch));
  }
}

TEST_P(EveryDataset, KeepsTokensInRangeAndNumbersFinite) {
  for (const SampleShape& shape : shapes()) {
    const auto data = make_dataset(choice(), shape);
    const Batch batch = batch_of(*data, 0, std::min<std::int64_t>(data->size(), 64));
    for (const auto* list : {&batch.tokens, &batch.targets}) {
      for (const std::int32_t token : *list) ASSERT_TRUE(token >= 0 && token < shape.vocabulary) << token;
    }
    for (const auto* list : {&batch.features, &batch.labels}) {
      for (const float value : *list) ASSERT_TRUE(std::isfinite(value));
    }
  }
}

TEST_P(EveryDataset, StatesAnEntropyWhereThereAreTokens) {
  for (const SampleShape& shape : shapes()) {
    const double entropy = make_dataset(choice(), shape)->unigram_entropy();
    if (shape.tokens) {
      EXPECT_GT(entropy, 1);
      EXPECT_LE(entropy, std::log(static_cast<double>(shape.vocabulary)));
    } else {
      EXPECT_TRUE(std::isnan(entropy));
    }
  }
}

TEST_P(EveryDataset, RefusesAParameterThatItDoesNotHave) {
  DataChoice wrong = choice();
  wrong.parameters.set("no_such_parameter", 1.0);
  EXPECT_THROW(make_dataset(wrong, token_shape), UserError);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryDataset, testing::ValuesIn(datasets().begin(), datasets().end()),
                         [](const testing::TestParamInfo<const DatasetEntry*>& each) {
                           return std::string(each.param->name);
                         });

}  // namespace
}  // namespace ringmaster::data
