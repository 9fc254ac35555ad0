// SPDX-License-Identifier: Apache-2.0
#include "parallel/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "training.hpp"

namespace ringmaster::parallel {
namespace {

TEST(Layout, PlacesEachParameterOnceInTheOrderInWhichBackwardFinishes) {
  const auto model = test::small_model();
  const Layout layout = lay_out(*model, 512);
  const auto& infos = model->parameters();
  ASSERT_EQ(layout.order.size(), infos.size());
  std::int64_t at = 0;
  std::int64_t total = 0;
  for (const int index : layout.order) {
    const auto i = static_cast<std::size_t>(index);
    EXPECT_EQ(layout.offsets[i] % 16, 0);  // 64 bytes
    EXPECT_GE(layout.offsets[i], at);
    at = layout.offsets[i] + infos[i].size();
    total += infos[i].size();
  }
  EXPECT_LE(at, layout.elements);
  EXPECT_EQ(layout.parameters, total);
  EXPECT_EQ(infos[static_cast<std::size_t>(layout.order.front())].name.rfind("layer3", 0), 0U);
  // The tied gain is finished with the first layer only.
  const auto gain = static_cast<std::size_t>(
      std::find_if(infos.begin(), infos.end(), [](const auto& info) { return info.name == "gain"; }) - infos.begin());
  EXPECT_GT(layout.offsets[gain], layout.offsets[2]);  // behind layer 1
}

TEST(Layout, BucketsCoverTheFlatVectorOnceAndWaitForTheirLastLayer) {
  const auto model = test::small_model();
  for (const std::int64_t bytes :
       {std::int64_t{1}, std::int64_t{64}, std::int64_t{500}, std::int64_t{4096}, std::int64_t{1} << 40}) {
    const Layout layout = lay_out(*model, bytes);
    std::int64_t at = 0;
    int last_ready = model->layer_count();
    std::vector<int> seen;
    for (const BucketInfo& bucket : layout.buckets) {
      EXPECT_EQ(bucket.offset, at);
      EXPECT_GT(bucket.elements, 0);
      EXPECT_LE(bucket.ready_layer, last_ready);
      at += bucket.elements;
      last_ready = bucket.ready_layer;
      int lowest = model->layer_count();
      for (int layer = 0; layer < model->layer_count(); ++layer) {
        for (const int index : model->layer_parameters(layer)) {
          const auto i = static_cast<std::size_t>(index);
          const std::int64_t end = layout.offsets[i] + model->parameters()[i].size();
          if (layout.offsets[i] < at && end > bucket.offset) lowest = std::min(lowest, layer);
        }
      }
      EXPECT_EQ(bucket.ready_layer, lowest);
    }
    EXPECT_EQ(at, layout.elements);
    for (int layer = model->layer_count() - 1; layer >= 0; --layer) {
      for (const int bucket : layout.ready[static_cast<std::size_t>(layer)]) seen.push_back(bucket);
    }
    ASSERT_EQ(seen.size(), layout.buckets.size());
    for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], static_cast<int>(i));
  }
}

TEST(Layout, RangesOfABucketSayWhatDecays) {
  const auto model = test::small_model();
  const Layout layout = lay_out(*model, 300);
  std::vector<int> decays(static_cast<std::size_t>(layout.elements), -1);
  for (std::size_t b = 0; b < layout.buckets.size(); ++b) {
    std::int64_t at = layout.buckets[b].offset;
    for (const DecayRange& range : layout.ranges[b]) {
      EXPECT_EQ(range.offset, at);
      at += range.elements;
      for (std::int64_t i = range.offset; i < at; ++i) decays[static_cast<std::size_t>(i)] = range.decays ? 1 : 0;
    }
    EXPECT_EQ(at, layout.buckets[b].offset + layout.buckets[b].elements);
  }
  for (std::size_t i = 0; i < layout.offsets.size(); ++i) {
    const model::ParameterInfo& info = model->parameters()[i];
    for (std::int64_t k = 0; k < info.size(); ++k) {
      EXPECT_EQ(decays[static_cast<std::size_t>(layout.offsets[i] + k)], info.decays ? 1 : 0) << info.name;
    }
  }
}

}  // namespace
}  // namespace ringmaster::parallel
