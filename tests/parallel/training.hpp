// SPDX-License-Identifier: Apache-2.0
// A small model with everything that data parallel training must cope with (layers of unequal size, a parameter tied
// between the first and the last layer, sizes that are no multiple of a line), and a trial: some steps on some ranks.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.hpp"
#include "parallel/data_parallel.hpp"
#include "transport/process_group.hpp"

namespace ringmaster::test {

/// y = gain * W_n tanh(... tanh(W_0 (gain * x) + b_0) ...) + b_n; loss: mean of half the squared distance.
class Stack final : public model::Model<float> {
 public:
  explicit Stack(std::vector<std::int64_t> widths) : widths_(std::move(widths)) {
    for (int layer = 0; layer < layer_count(); ++layer) {
      const std::string name = "layer" + std::to_string(layer);
      const double deviation = 1 / std::sqrt(static_cast<double>(in(layer)));
      infos_.push_back({name + ".weight", {out(layer), in(layer)}, model::Initializer::normal, deviation, true, -1});
      infos_.push_back({name + ".bias", {out(layer)}, model::Initializer::zeros, 0, false, -1});
    }
    infos_.push_back({"gain", {1}, model::Initializer::ones, 0, false, -1});
  }

  const std::vector<model::ParameterInfo>& parameters() const override { return infos_; }
  model::InputShape input() const override { return {false, widths_.front(), 0, widths_.back()}; }
  int layer_count() const override { return static_cast<int>(widths_.size()) - 1; }
  std::string layer_name(int layer) const override { return "layer" + std::to_string(layer); }
  std::vector<int> layer_parameters(int layer) const override {
    std::vector<int> result{2 * layer, 2 * layer + 1};
    if (layer == 0 || layer == layer_count() - 1) result.push_back(gain());
    return result;
  }
  double flops_per_sample() const override { return 0; }

  void prepare(std::int64_t samples) override {
    activations_.resize(widths_.size());
    errors_.resize(widths_.size());
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      activations_[i].resize(static_cast<std::size_t>(samples * widths_[i]));
      errors_[i].resize(activations_[i].size());
    }
  }

  double forward(std::span<float* const> parameters, const model::Input<float>& input,
                 const model::Hooks& hooks) override {
    const float gain_now = *parameters[index(gain())];
    for (std::size_t i = 0; i < input.features.size(); ++i) activations_[0][i] = gain_now * input.features[i];
    for (int layer = 0; layer < layer_count(); ++layer) {
      if (hooks.before_forward) hooks.before_forward(layer);
      forward_layer(parameters, input.samples, layer);
      if (hooks.after_forward) hooks.after_forward(layer);
    }
    double loss = 0;
    for (std::size_t i = 0; i < input.labels.size(); ++i) {
      const double difference = static_cast<double>(gain_now * activations_.back()[i] - input.labels[i]);
      loss += difference * difference / 2;
    }
    return loss / static_cast<double>(input.labels.size());
  }

  void backward(std::span<float* const> parameters, std::span<float* const> gradients, const model::Input<float>& input,
                double scale, model::Accumulate accumulate, const model::Hooks& hooks) override {
    const float gain_now = *parameters[index(gain())];
    const auto each = static_cast<float>(scale / static_cast<double>(input.labels.size()));
    for (int layer = layer_count() - 1; layer >= 0; --layer) {
      if (hooks.before_backward) hooks.before_backward(layer);
      if (accumulate == model::Accumulate::overwrite) clear(gradients, layer);
      if (layer == layer_count() - 1) {
        for (std::size_t i = 0; i < input.labels.size(); ++i) {
          const float error = each * (gain_now * activations_.back()[i] - input.labels[i]);
          *gradients[index(gain())] += error * activations_.back()[i];
          errors_.back()[i] = error * gain_now;
        }
      }
      backward_layer(parameters, gradients, input.samples, layer);
      if (layer == 0) {
        for (std::size_t i = 0; i < input.features.size(); ++i) {
          *gradients[index(gain())] += errors_[0][i] * input.features[i];
        }
      }
      if (hooks.after_backward) hooks.after_backward(layer);
    }
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  int gain() const { return 2 * layer_count(); }
  std::int64_t in(int layer) const { return widths_[index(layer)]; }
  std::int64_t out(int layer) const { return widths_[index(layer) + 1]; }

  void forward_layer(std::span<float* const> parameters, std::int64_t samples, int layer) {
    const float* weight = parameters[index(2 * layer)];
    const float* bias = parameters[index(2 * layer + 1)];
    for (std::int64_t s = 0; s < samples; ++s) {
      const float* from = activations_[index(layer)].data() + s * in(layer);
      float* to = activations_[index(layer) + 1].data() + s * out(layer);
      for (std::int64_t o = 0; o < out(layer); ++o) {
        float sum = bias[o];
        for (std::int64_t i = 0; i < in(layer); ++i) sum += weight[o * in(layer) + i] * from[i];
        to[o] = layer + 1 < layer_count() ? std::tanh(sum) : sum;
      }
    }
  }

  void backward_layer(std::span<float* const> parameters, std::span<float* const> gradients, std::int64_t samples,
                      int layer) {
    const float* weight = parameters[index(2 * layer)];
    for (std::int64_t s = 0; s < samples; ++s) {
      const float* from = activations_[index(layer)].data() + s * in(layer);
      const float* to = activations_[index(layer) + 1].data() + s * out(layer);
      const float* error = errors_[index(layer) + 1].data() + s * out(layer);
      float* passed = errors_[index(layer)].data() + s * in(layer);
      for (std::int64_t i = 0; i < in(layer); ++i) passed[i] = 0;
      for (std::int64_t o = 0; o < out(layer); ++o) {
        const float slope = layer + 1 < layer_count() ? 1 - to[o] * to[o] : 1.0F;
        const float mine = error[o] * slope;
        gradients[index(2 * layer + 1)][o] += mine;
        for (std::int64_t i = 0; i < in(layer); ++i) {
          gradients[index(2 * layer)][o * in(layer) + i] += mine * from[i];
          passed[i] += mine * weight[o * in(layer) + i];
        }
      }
    }
  }

  void clear(std::span<float* const> gradients, int layer) const {
    for (const int parameter : {2 * layer, 2 * layer + 1}) {
      for (std::int64_t i = 0; i < infos_[index(parameter)].size(); ++i) gradients[index(parameter)][i] = 0;
    }
    if (layer == layer_count() - 1) *gradients[index(gain())] = 0;
  }

  std::vector<std::int64_t> widths_;
  std::vector<model::ParameterInfo> infos_;
  std::vector<std::vector<float>> activations_;
  std::vector<std::vector<float>> errors_;
};

inline std::unique_ptr<model::Model<float>> small_model() {
  return std::make_unique<Stack>(std::vector<std::int64_t>{12, 23, 17, 9, 5});
}

inline std::unique_ptr<data::Dataset> small_data() {
  data::DataChoice choice;
  choice.kind = "synthetic";
  choice.parameters.set("samples", std::int64_t{2000});  // no trial sees the end of an epoch
  return data::make_dataset(choice, {false, 12, 0, 5});
}

/// One rank of a trial: all that a training run holds.
struct Rank {
  Rank(transport::ProcessGroup& group, parallel::DataParallelOptions options)
      : dataset(small_data()), loader(*dataset, loading(group, options)) {
    options.engine.recorder = &engine;
    trainer = std::make_unique<parallel::DataParallel>(group, small_model(), options, main);
  }
  static data::LoaderOptions loading(const transport::ProcessGroup& group,
                                     const parallel::DataParallelOptions& options) {
    data::LoaderOptions result;
    result.batch = options.batch;
    result.rank = group.rank();
    result.ranks = group.size();
    result.threads = 0;
    return result;
  }
  /// Loss of each step.
  std::vector<double> steps(int count) {
    std::vector<double> losses;
    for (int i = 0; i < count; ++i) losses.push_back(trainer->step(loader).loss);
    return losses;
  }
  std::vector<float> parameters() { return {trainer->parameters().begin(), trainer->parameters().end()}; }

  Recorder main{1U << 14U};
  Recorder engine{1U << 12U};
  std::unique_ptr<data::Dataset> dataset;
  data::Loader loader;
  std::unique_ptr<parallel::DataParallel> trainer;
};

inline parallel::DataParallelOptions small_options() {
  parallel::DataParallelOptions options;
  options.batch = 4;
  options.bucket_bytes = 512;  // several buckets, cut through parameters
  options.optimizer.kind = model::OptimizerKind::sgd;
  options.optimizer.learning_rate = 0.1;
  options.allreduce.algorithm = "ring";
  return options;
}

/// Largest difference over the largest absolute value.
inline double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = a.size() == b.size() ? 0 : INFINITY;
  double largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference = std::max(difference, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    largest = std::max(largest, std::abs(static_cast<double>(a[i])));
  }
  return difference / largest;
}

}  // namespace ringmaster::test
