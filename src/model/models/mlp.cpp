// SPDX-License-Identifier: Apache-2.0
// Multi-layer perceptron for regression: `layers` hidden layers with GELU and a linear output, mean square error.
// Few flops a parameter: where communication weighs most.
#include <fmt/core.h>

#include <cmath>

#include "model/detail/layered.hpp"

namespace ringmaster::model {
namespace {

template <class T>
class Mlp final : public detail::Layered<T> {
 public:
  explicit Mlp(const Parameters& p) {
    const std::int64_t layers = p.integer("layers");
    sizes_.push_back(p.integer("inputs"));
    for (std::int64_t i = 0; i < layers; ++i) sizes_.push_back(p.integer("width"));
    sizes_.push_back(p.integer("outputs"));
    for (std::size_t i = 0; i + 1 < sizes_.size(); ++i) {
      const std::string name = i + 2 == sizes_.size() ? std::string("output") : fmt::format("hidden{}", i);
      // He et al. 2015: keeps the size of activations over layers that halve them.
      const double deviation = std::sqrt((i + 2 == sizes_.size() ? 1.0 : 2.0) / static_cast<double>(sizes_[i]));
      const int weight =
          this->add_parameter({name + ".weight", {sizes_[i], sizes_[i + 1]}, Initializer::normal, deviation, true, 1});
      const int bias = this->add_parameter({name + ".bias", {sizes_[i + 1]}, Initializer::zeros, 0, false, 0});
      this->add_layer(name, {weight, bias});
    }
    before_.resize(sizes_.size() - 1);
    after_.resize(sizes_.size() - 1);
  }

  InputShape input() const override { return {false, sizes_.front(), 0, sizes_.back()}; }

  double flops_per_sample() const override {
    double weights = 0;
    for (std::size_t i = 0; i + 1 < sizes_.size(); ++i) weights += static_cast<double>(sizes_[i] * sizes_[i + 1]);
    return 6 * weights - 2 * static_cast<double>(sizes_[0] * sizes_[1]);  // nobody needs the data's gradient
  }

 private:
  std::int64_t in(int layer) const { return sizes_[static_cast<std::size_t>(layer)]; }
  std::int64_t out(int layer) const { return sizes_[static_cast<std::size_t>(layer) + 1]; }
  bool last(int layer) const { return layer + 1 == this->layer_count(); }
  const T* below(int layer, const Input<T>& input) const {
    return layer == 0 ? input.features.data() : after_[static_cast<std::size_t>(layer) - 1].data();
  }

  void check(const Input<T>& input) const override {
    RINGMASTER_ASSERT(static_cast<std::int64_t>(input.features.size()) == input.samples * sizes_.front() &&
                          static_cast<std::int64_t>(input.labels.size()) == input.samples * sizes_.back(),
                      "B x F features and B x O labels");
  }

  void allocate(std::int64_t samples) override {
    std::int64_t widest = 0;
    for (int layer = 0; layer < this->layer_count(); ++layer) {
      widest = std::max({widest, in(layer), out(layer)});
      before_[static_cast<std::size_t>(layer)].resize(samples * out(layer));
      if (!last(layer)) after_[static_cast<std::size_t>(layer)].resize(samples * out(layer));
    }
    gradient_[0].resize(samples * widest);
    gradient_[1].resize(samples * widest);
  }

  void forward_layer(int layer, const Input<T>& input) override {
    const auto i = static_cast<std::size_t>(layer);
    const std::span<T> z = before_[i].first(input.samples * out(layer));
    tensor::fill_rows(detail::constant(this->parameter(2 * layer + 1)), z);
    this->multiply(below(layer, input), input.samples, in(layer), out(layer), 2 * layer, T{1}, z.data());
    if (last(layer)) {
      this->loss_ = tensor::square_error(detail::constant(z), input.labels);
    } else {
      tensor::gelu(detail::constant(z), after_[i].first(input.samples * out(layer)));
    }
  }

  // Gradients go to and fro between two buffers: that of a layer's output lies in the one of the layer's parity.
  void backward_layer(int layer, const Input<T>& input) override {
    const auto i = static_cast<std::size_t>(layer);
    const std::span<T> z = before_[i].first(input.samples * out(layer));
    const std::span<T> above = gradient_[i % 2].first(input.samples * out(layer));
    if (last(layer)) {
      tensor::square_error_backward(detail::constant(z), input.labels, this->scale_, above);
    } else {
      tensor::gelu_backward(detail::constant(z), above);
    }
    tensor::column_sums_add(detail::constant(above), this->cleared_gradient(2 * layer + 1));
    this->weight_gradient(below(layer, input), above.data(), input.samples, in(layer), out(layer), 2 * layer);
    if (layer == 0) return;
    this->input_gradient(above.data(), input.samples, in(layer), out(layer), 2 * layer, gradient_[(i + 1) % 2].data());
  }

  std::vector<std::int64_t> sizes_;
  std::vector<detail::Memory<T>> before_, after_;
  detail::Memory<T> gradient_[2];
};

template <class T>
std::unique_ptr<Model<T>> make(const ModelChoice& choice) {
  return std::make_unique<Mlp<T>>(choice.parameters);
}

}  // namespace

const ModelEntry& mlp_model() {
  static const ParameterSpec specs[] = {
      {"width", ParameterType::integer, "", "512", 1, 65536, "of the hidden layers"},
      {"layers", ParameterType::integer, "", "3", 1, 1024, "hidden layers"},
      {"inputs", ParameterType::integer, "", "256", 1, 1048576, "features of a sample"},
      {"outputs", ParameterType::integer, "", "16", 1, 1048576, "labels of a sample"},
  };
  static const ModelEntry entry{"mlp",       "multi-layer perceptron, regression",
                                specs,       [](const ModelChoice&) { return Verdict::yes(); },
                                make<float>, make<double>};
  return entry;
}

}  // namespace ringmaster::model
