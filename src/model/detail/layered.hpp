// SPDX-License-Identifier: Apache-2.0
// What all models share: parameters, memory that only grows, linear layers, and hooks around each layer, forward first
// to last and backward last to first. A model derives from it and computes single layers.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "device/device.hpp"
#include "model/model.hpp"
#include "tensor/gemm.hpp"
#include "tensor/operators.hpp"

namespace ringmaster::model::detail {

/// A matrix of activations or scratch.
template <class T>
class Memory {
 public:
  void resize(std::int64_t elements) { buffer_ = device::Buffer(elements * static_cast<std::int64_t>(sizeof(T))); }
  T* data() const { return buffer_.as<T>().data(); }
  std::span<T> first(std::int64_t elements) const { return buffer_.as<T>().first(static_cast<std::size_t>(elements)); }

 private:
  device::Buffer buffer_;
};

template <class T>
std::span<T> range(T* data, std::int64_t size) {
  return {data, static_cast<std::size_t>(size)};
}
template <class T>
std::span<const T> constant(std::span<T> values) {
  return values;
}

template <class T>
class Layered : public Model<T> {
 public:
  const std::vector<ParameterInfo>& parameters() const final { return infos_; }
  int layer_count() const final { return static_cast<int>(layers_.size()); }
  std::string layer_name(int layer) const final { return layers_[static_cast<std::size_t>(layer)].name; }
  std::vector<int> layer_parameters(int layer) const final {
    return layers_[static_cast<std::size_t>(layer)].parameters;
  }

  void prepare(std::int64_t samples) final {
    if (samples <= capacity_) return;
    allocate(samples);
    capacity_ = samples;
  }

  double forward(std::span<T* const> parameters, const Input<T>& input, const Hooks& hooks) final {
    RINGMASTER_ASSERT(input.samples > 0 && input.samples <= capacity_, "prepare comes before forward");
    RINGMASTER_ASSERT(parameters.size() == infos_.size(), "as many addresses as parameters");
    check(input);
    parameters_ = parameters;
    for (int layer = 0; layer < layer_count(); ++layer) {
      if (hooks.before_forward) hooks.before_forward(layer);
      forward_layer(layer, input);
      if (hooks.after_forward) hooks.after_forward(layer);
    }
    return loss_;
  }

  void backward(std::span<T* const> parameters, std::span<T* const> gradients, const Input<T>& input, double scale,
                Accumulate accumulate, const Hooks& hooks) final {
    RINGMASTER_ASSERT(gradients.size() == infos_.size(), "as many addresses as parameters");
    parameters_ = parameters;
    gradients_ = gradients;
    beta_ = accumulate == Accumulate::add ? T{1} : T{0};
    scale_ = static_cast<T>(scale);
    for (int layer = layer_count() - 1; layer >= 0; --layer) {
      if (hooks.before_backward) hooks.before_backward(layer);
      backward_layer(layer, input);
      if (hooks.after_backward) hooks.after_backward(layer);
    }
  }

 protected:
  struct Layer {
    std::string name;
    std::vector<int> parameters;
  };

  int add_parameter(ParameterInfo info) {
    infos_.push_back(std::move(info));
    return static_cast<int>(infos_.size()) - 1;
  }
  void add_layer(std::string name, std::vector<int> parameters) {
    layers_.push_back({std::move(name), std::move(parameters)});
  }

  std::span<T> parameter(int index) const { return at(parameters_, index); }
  std::span<T> gradient(int index) const { return at(gradients_, index); }
  /// A gradient to which sums are added: cleared first where this backward overwrites.
  std::span<T> cleared_gradient(int index) const {
    const std::span<T> values = gradient(index);
    if (beta_ == T{0}) std::fill(values.begin(), values.end(), T{0});
    return values;
  }

  /// out (rows, n) = in (rows, k) W + out, or without out where beta is 0. W is (k, n).
  void multiply(const T* in, std::int64_t rows, std::int64_t k, std::int64_t n, int weight, T beta, T* out) const {
    tensor::gemm(tensor::Product<T>{rows, n, k, {in, k}, {parameter(weight).data(), n}, {out, n}, T{1}, beta});
  }
  /// The weight's gradient from the layer's input and its output's gradient.
  void weight_gradient(const T* in, const T* out_gradient, std::int64_t rows, std::int64_t k, std::int64_t n,
                       int weight) const {
    tensor::gemm(tensor::Product<T>{
        k, n, rows, {in, k, tensor::Transpose::yes}, {out_gradient, n}, {gradient(weight).data(), n}, T{1}, beta_});
  }
  void input_gradient(const T* out_gradient, std::int64_t rows, std::int64_t k, std::int64_t n, int weight,
                      T* in_gradient) const {
    tensor::gemm(tensor::Product<T>{
        rows, k, n, {out_gradient, n}, {parameter(weight).data(), n, tensor::Transpose::yes}, {in_gradient, k}});
  }

  virtual void check(const Input<T>& input) const = 0;
  virtual void allocate(std::int64_t samples) = 0;
  virtual void forward_layer(int layer, const Input<T>& input) = 0;
  virtual void backward_layer(int layer, const Input<T>& input) = 0;

  T beta_ = 0;  // 1 where gradients are added to
  T scale_ = 1;
  double loss_ = 0;

 private:
  std::span<T> at(std::span<T* const> addresses, int index) const {
    const auto i = static_cast<std::size_t>(index);
    return {addresses[i], static_cast<std::size_t>(infos_[i].size())};
  }

  std::vector<ParameterInfo> infos_;
  std::vector<Layer> layers_;
  std::span<T* const> parameters_;
  std::span<T* const> gradients_;
  std::int64_t capacity_ = 0;
};

}  // namespace ringmaster::model::detail
