// SPDX-License-Identifier: Apache-2.0
// A model with memory of its own, made data, and central differences.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "model/model.hpp"

namespace ringmaster::model {

template <class T>
class Workbench {
 public:
  Workbench(std::unique_ptr<Model<T>> model, std::int64_t samples, std::uint64_t seed)
      : model_(std::move(model)), samples_(samples) {
    const auto& infos = model_->parameters();
    for (std::size_t i = 0; i < infos.size(); ++i) {
      values_.emplace_back(static_cast<std::size_t>(infos[i].size()));
      gradients_.emplace_back(values_.back().size());
      initialize<T>(infos[i], static_cast<int>(i), seed, values_.back());
    }
    for (std::size_t i = 0; i < infos.size(); ++i) {
      addresses_.push_back(values_[i].data());
      gradient_addresses_.push_back(gradients_[i].data());
    }
    model_->prepare(samples);
    make_data(seed);
  }

  double forward(const Hooks& hooks = {}) { return model_->forward(addresses_, input(), hooks); }
  void backward(double scale = 1, Accumulate accumulate = Accumulate::overwrite, const Hooks& hooks = {}) {
    model_->backward(addresses_, gradient_addresses_, input(), scale, accumulate, hooks);
  }
  Input<T> input() const { return {samples_, tokens_, targets_, features_, labels_}; }
  Model<T>& model() { return *model_; }
  std::vector<std::vector<T>>& values() { return values_; }
  std::vector<std::vector<T>>& gradients() { return gradients_; }

  /// The loss's slope along one element.
  double slope(std::size_t parameter, std::size_t element, double step) {
    T& value = values_[parameter][element];
    const T kept = value;
    value = kept + static_cast<T>(step);
    const double above = forward();
    value = kept - static_cast<T>(step);
    const double below = forward();
    value = kept;
    return (above - below) / (2 * step);
  }

 private:
  void make_data(std::uint64_t seed) {
    Random random(seed + 1);
    const InputShape shape = model_->input();
    const auto length = static_cast<std::size_t>(samples_ * shape.length);
    if (shape.tokens) {
      for (std::size_t i = 0; i < length; ++i) {
        tokens_.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(shape.vocabulary))));
        targets_.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(shape.vocabulary))));
      }
      return;
    }
    for (std::size_t i = 0; i < length; ++i) features_.push_back(static_cast<T>(random.normal()));
    for (std::int64_t i = 0; i < samples_ * shape.outputs; ++i) labels_.push_back(static_cast<T>(random.normal()));
  }

  std::unique_ptr<Model<T>> model_;
  std::int64_t samples_;
  std::vector<std::vector<T>> values_, gradients_;
  std::vector<T*> addresses_, gradient_addresses_;
  std::vector<std::int32_t> tokens_, targets_;
  std::vector<T> features_, labels_;
};

/// A small choice of each kind, so that whole gradients can be checked.
inline ModelChoice small_choice(const std::string& kind) {
  ModelChoice choice;
  choice.kind = kind;
  const auto set = [&](const char* name, std::int64_t value) { choice.parameters.set(name, value); };
  if (kind == "transformer") {
    set("layers", 2);
    set("width", 12);
    set("heads", 3);
    set("context", 70);  // more than one block of queries, and not whole blocks
    set("vocabulary", 11);
  } else if (kind == "mlp") {
    set("layers", 2);
    set("width", 9);
    set("inputs", 7);
    set("outputs", 3);
  } else if (kind == "layers") {
    set("inputs", 10);
    set("outputs", 4);
    choice.layers = {{600, 130, 160}, {0, 7, 100}, {6000, 3, 400}, {0, 0, 64}, {480, 90, 0}};
  }
  return choice;
}

}  // namespace ringmaster::model
