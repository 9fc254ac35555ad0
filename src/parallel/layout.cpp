// SPDX-License-Identifier: Apache-2.0
#include "parallel/layout.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace ringmaster::parallel {
namespace {

constexpr std::int64_t line_elements = 64 / static_cast<std::int64_t>(sizeof(float));

std::int64_t round_up(std::int64_t value) { return (value + line_elements - 1) / line_elements * line_elements; }

/// The layer whose backward is the last to touch each parameter. Backward runs from the last layer to the first.
std::vector<int> ready_layers(const model::Model<float>& model) {
  std::vector<int> ready(model.parameters().size(), -1);
  for (int layer = model.layer_count() - 1; layer >= 0; --layer) {
    for (const int index : model.layer_parameters(layer)) ready.at(static_cast<std::size_t>(index)) = layer;
  }
  for (const int layer : ready) RINGMASTER_ASSERT(layer >= 0, "a parameter that no layer uses");
  return ready;
}

/// A parameter with its gap.
struct Piece {
  std::int64_t offset = 0;
  std::int64_t end = 0;
  int ready_layer = 0;
  bool decays = false;
};

void add_range(std::vector<DecayRange>& ranges, const DecayRange& range) {
  if (!ranges.empty() && ranges.back().decays == range.decays) {
    ranges.back().elements += range.elements;
  } else {
    ranges.push_back(range);
  }
}

void cut(Layout& layout, const std::vector<Piece>& pieces, std::int64_t bucket_elements) {
  std::size_t first = 0;
  for (std::int64_t offset = 0; offset < layout.elements; offset += bucket_elements) {
    const std::int64_t end = std::min(offset + bucket_elements, layout.elements);
    while (pieces[first].end <= offset) ++first;
    BucketInfo bucket{offset, end - offset, pieces[first].ready_layer};
    std::vector<DecayRange> ranges;
    for (std::size_t i = first; i < pieces.size() && pieces[i].offset < end; ++i) {
      const std::int64_t from = std::max(pieces[i].offset, offset);
      add_range(ranges, {from, std::min(pieces[i].end, end) - from, pieces[i].decays});
      bucket.ready_layer = std::min(bucket.ready_layer, pieces[i].ready_layer);
    }
    layout.ready[static_cast<std::size_t>(bucket.ready_layer)].push_back(static_cast<int>(layout.buckets.size()));
    layout.buckets.push_back(bucket);
    layout.ranges.push_back(std::move(ranges));
  }
}

}  // namespace

Layout lay_out(const model::Model<float>& model, std::int64_t bucket_bytes) {
  RINGMASTER_ASSERT(bucket_bytes > 0, "size of a bucket");
  const std::vector<model::ParameterInfo>& infos = model.parameters();
  const std::vector<int> ready = ready_layers(model);
  Layout layout;
  for (int i = static_cast<int>(infos.size()) - 1; i >= 0; --i) layout.order.push_back(i);
  std::stable_sort(layout.order.begin(), layout.order.end(), [&ready](int a, int b) {
    return ready[static_cast<std::size_t>(a)] > ready[static_cast<std::size_t>(b)];
  });
  layout.offsets.resize(infos.size());
  layout.ready.resize(static_cast<std::size_t>(model.layer_count()));
  std::vector<Piece> pieces;
  for (const int index : layout.order) {
    const auto i = static_cast<std::size_t>(index);
    const std::int64_t begin = layout.elements;
    layout.offsets[i] = begin;
    layout.parameters += infos[i].size();
    layout.elements += round_up(infos[i].size());
    pieces.push_back({begin, layout.elements, ready[i], infos[i].decays});
  }
  cut(layout, pieces, std::max(line_elements, round_up(bucket_bytes / static_cast<std::int64_t>(sizeof(float)))));
  return layout;
}

}  // namespace ringmaster::parallel
