// SPDX-License-Identifier: Apache-2.0
// The shape of somebody's own model: a list of {flops, parameters, bytes}, run as real products of that many flops with
// real parameters, gradients and activations. It is a differentiable linear chain: a layer repeats its predecessor's
// output to the size that it reads, multiplies it by a weight matrix and adds the rest of its parameters.
//
//   output = bytes / size of a float = rows x n;  depth k = flops / (6 rows n);  weights k x n from the parameters
//
// Where the weights do not fit (a tied head, attention's products) they are constants whose gradient is computed and
// dropped. How flops, rows and n are found is in docs/method.md, "Model flops".
#include <fmt/core.h>

#include <cmath>

#include "model/detail/layered.hpp"

namespace ringmaster::model {
namespace {

constexpr std::int64_t deepest = 4096;  // k, so that inputs stay in proportion to outputs

/// One layer as a product of one sample: (rows, k) x (k, n). Without a product rows is 1 and k is 0.
struct Cut {
  std::int64_t rows = 1;
  std::int64_t k = 0;
  std::int64_t n = 1;
  std::int64_t weights = 0;  // of the parameters, in the product
  std::int64_t rest = 0;     // of the parameters, added to the output
  std::int64_t output() const { return rows * n; }
};

std::int64_t whole(double value) { return std::max<std::int64_t>(1, std::llround(value)); }

// Given k and the size of the output, how wide it is.
std::int64_t width_of(std::int64_t k, std::int64_t output, std::int64_t parameters) {
  const std::int64_t fitting = parameters / k;
  if (fitting >= std::min<std::int64_t>(16, output)) return std::min(fitting, output);
  return std::min(output, std::max<std::int64_t>(k, 64));
}

Cut cut(const LayerShape& shape) {
  Cut c;
  c.rest = shape.parameters;
  const std::int64_t floats = shape.bytes / static_cast<std::int64_t>(sizeof(float));
  const double products = shape.flops / 6;  // multiplications and additions of one of the three products
  if (products < 0.5) {
    c.n = std::max<std::int64_t>(1, floats);
    return c;
  }
  // Without bytes: a square weight matrix of all parameters.
  const double side = std::sqrt(static_cast<double>(std::max<std::int64_t>(shape.parameters, 1)));
  const double output = floats > 0 ? static_cast<double>(floats) : std::max(1.0, products / std::max(1.0, side));
  c.k = std::min(deepest, whole(products / output));
  c.n = width_of(c.k, whole(output), shape.parameters);
  const double each = static_cast<double>(c.k) * static_cast<double>(c.n);
  c.rows = whole(products / each);
  // Rounding rows is coarse where there are few: the depth takes up the difference, as far as the weights go.
  const std::int64_t depth = whole(products / (static_cast<double>(c.rows) * static_cast<double>(c.n)));
  if (depth * c.n <= shape.parameters || c.k * c.n > shape.parameters) c.k = depth;
  if (c.k * c.n <= shape.parameters) c.weights = c.k * c.n;
  c.rest = shape.parameters - c.weights;
  return c;
}

template <class T>
struct Stage {
  Cut cut;
  int weight = -1;  // -1: constant
  int rest = -1;    // -1: none
  detail::Memory<T> constant, dropped, in, out;
};

template <class T>
class Layers final : public detail::Layered<T> {
 public:
  explicit Layers(const ModelChoice& choice)
      : inputs_(choice.parameters.integer("inputs")), outputs_(choice.parameters.integer("outputs")) {
    stages_.resize(choice.layers.size());
    for (std::size_t i = 0; i < stages_.size(); ++i) add_stage(fmt::format("layer{}", i), cut(choice.layers[i]), i);
    outputs_ = std::min(outputs_, stages_.back().cut.output());
  }

  InputShape input() const override { return {false, inputs_, 0, outputs_}; }

  double flops_per_sample() const override {
    double sum = 0;
    for (const Stage<T>& s : stages_) {
      sum += 6 * static_cast<double>(s.cut.rows) * static_cast<double>(s.cut.n) * static_cast<double>(s.cut.k);
    }
    return sum;
  }

 private:
  void add_stage(const std::string& name, const Cut& cut, std::size_t index) {
    Stage<T>& stage = stages_[index];
    stage.cut = cut;
    std::vector<int> parameters;
    const double deviation = 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(cut.k, 1)));
    if (cut.weights > 0) {
      stage.weight = this->add_parameter({name + ".weight", {cut.k, cut.n}, Initializer::normal, deviation, true, 1});
      parameters.push_back(stage.weight);
    } else if (cut.k > 0) {
      stage.constant.resize(cut.k * cut.n);
      stage.dropped.resize(cut.k * cut.n);
      const ParameterInfo info{name, {cut.k, cut.n}, Initializer::normal, deviation, false, -1};
      initialize<T>(info, static_cast<int>(index), 0, stage.constant.first(cut.k * cut.n));
    }
    if (cut.rest > 0) {
      stage.rest = this->add_parameter({name + ".rest", {cut.rest}, Initializer::zeros, 0, false, 0});
      parameters.push_back(stage.rest);
    }
    this->add_layer(name, std::move(parameters));
  }

  // What a layer reads, of one sample.
  std::int64_t reads(const Cut& c) const { return c.k > 0 ? c.rows * c.k : c.output(); }
  std::int64_t below(std::size_t i) const { return i == 0 ? inputs_ : stages_[i - 1].cut.output(); }
  const T* weights(const Stage<T>& s) const {
    return s.weight >= 0 ? this->parameter(s.weight).data() : s.constant.data();
  }

  void check(const Input<T>& input) const override {
    RINGMASTER_ASSERT(static_cast<std::int64_t>(input.features.size()) == input.samples * inputs_ &&
                          static_cast<std::int64_t>(input.labels.size()) == input.samples * outputs_,
                      "B x F features and B x O labels");
  }

  void allocate(std::int64_t samples) override {
    std::int64_t most_read = 0;
    std::int64_t most_written = 0;
    for (Stage<T>& s : stages_) {
      s.in.resize(samples * reads(s.cut));
      s.out.resize(samples * s.cut.output());
      most_read = std::max(most_read, reads(s.cut));
      most_written = std::max(most_written, s.cut.output());
    }
    d_in_.resize(samples * most_read);
    d_out_.resize(samples * most_written);
    predictions_.resize(samples * outputs_);
    d_predictions_.resize(samples * outputs_);
  }

  void forward_layer(int layer, const Input<T>& input) override {
    const auto i = static_cast<std::size_t>(layer);
    Stage<T>& s = stages_[i];
    const T* const from = i == 0 ? input.features.data() : stages_[i - 1].out.data();
    const std::int64_t size = s.cut.output();
    for (std::int64_t sample = 0; sample < input.samples; ++sample) {
      repeat(from + sample * below(i), below(i), s.in.data() + sample * reads(s.cut), reads(s.cut));
      T* const out = s.out.data() + sample * size;
      if (s.cut.k == 0) std::copy_n(s.in.data() + sample * size, size, out);
    }
    if (s.cut.k > 0) {
      const std::int64_t rows = input.samples * s.cut.rows;
      tensor::gemm(tensor::Product<T>{
          rows, s.cut.n, s.cut.k, {s.in.data(), s.cut.k}, {weights(s), s.cut.n}, {s.out.data(), s.cut.n}});
    }
    if (s.rest >= 0) {
      const std::int64_t used = std::min(s.cut.rest, size);
      const std::span<const T> rest = this->parameter(s.rest).first(static_cast<std::size_t>(used));
      for (std::int64_t sample = 0; sample < input.samples; ++sample) {
        tensor::add(rest, detail::range(s.out.data() + sample * size, used));
      }
    }
    if (layer + 1 == this->layer_count()) predict(input);
  }

  void predict(const Input<T>& input) {
    const Stage<T>& s = stages_.back();
    for (std::int64_t sample = 0; sample < input.samples; ++sample) {
      std::copy_n(s.out.data() + sample * s.cut.output(), outputs_, predictions_.data() + sample * outputs_);
    }
    this->loss_ = tensor::square_error(detail::constant(predictions_.first(input.samples * outputs_)), input.labels);
  }

  void backward_layer(int layer, const Input<T>& input) override {
    const auto i = static_cast<std::size_t>(layer);
    Stage<T>& s = stages_[i];
    const std::int64_t size = s.cut.output();
    if (layer + 1 == this->layer_count()) unpredict(input);
    if (s.rest >= 0) {
      const std::int64_t used = std::min(s.cut.rest, size);
      const std::span<T> rest = this->cleared_gradient(s.rest).first(static_cast<std::size_t>(used));
      for (std::int64_t sample = 0; sample < input.samples; ++sample) {
        tensor::add(detail::constant(detail::range(d_out_.data() + sample * size, used)), rest);
      }
    }
    if (s.cut.k > 0) product_backward(s, input.samples);
    if (i == 0) return;  // the data's gradient counts among the flops and goes nowhere
    if (s.cut.k == 0) std::copy_n(d_out_.data(), input.samples * size, d_in_.data());
    from_below(input.samples, reads(s.cut), below(i));
  }

  void unpredict(const Input<T>& input) {
    const std::int64_t size = stages_.back().cut.output();
    const std::span<T> all = d_out_.first(input.samples * size);
    const std::span<T> d = d_predictions_.first(input.samples * outputs_);
    std::fill(all.begin(), all.end(), T{0});
    tensor::square_error_backward(detail::constant(predictions_.first(input.samples * outputs_)), input.labels,
                                  this->scale_, d);
    for (std::int64_t sample = 0; sample < input.samples; ++sample) {
      std::copy_n(d.data() + sample * outputs_, outputs_, all.data() + sample * size);
    }
  }

  void product_backward(Stage<T>& s, std::int64_t samples) {
    const auto [per_sample, k, n, used, rest] = s.cut;
    const std::int64_t rows = samples * per_sample;
    T* const gradient = s.weight >= 0 ? this->gradient(s.weight).data() : s.dropped.data();
    tensor::gemm(tensor::Product<T>{k,
                                    n,
                                    rows,
                                    {s.in.data(), k, tensor::Transpose::yes},
                                    {d_out_.data(), n},
                                    {gradient, n},
                                    T{1},
                                    s.weight >= 0 ? this->beta_ : T{0}});
    tensor::gemm(
        tensor::Product<T>{rows, k, n, {d_out_.data(), n}, {weights(s), n, tensor::Transpose::yes}, {d_in_.data(), k}});
  }

  static void repeat(const T* from, std::int64_t size, T* to, std::int64_t wanted) {
    for (std::int64_t at = 0; at < wanted; at += size) std::copy_n(from, std::min(size, wanted - at), to + at);
  }

  // The gradient of the predecessor's output: the sum over the repetitions of it.
  void from_below(std::int64_t samples, std::int64_t read, std::int64_t size) {
    const std::span<T> all = d_out_.first(samples * size);
    std::fill(all.begin(), all.end(), T{0});
    for (std::int64_t sample = 0; sample < samples; ++sample) {
      for (std::int64_t at = 0; at < read; at += size) {
        const std::int64_t part = std::min(size, read - at);
        tensor::add(detail::constant(detail::range(d_in_.data() + sample * read + at, part)),
                    detail::range(all.data() + sample * size, part));
      }
    }
  }

  std::int64_t inputs_;
  std::int64_t outputs_;
  std::vector<Stage<T>> stages_;
  detail::Memory<T> d_in_, d_out_, predictions_, d_predictions_;
};

Verdict supports(const ModelChoice& choice) {
  if (choice.layers.empty())
    return Verdict::no("needs a list 'layers' of {flops, parameters, bytes}",
                       "such as layers: [{flops: 1e6, parameters: 1000, bytes: 4000}]");
  std::int64_t parameters = 0;
  for (const LayerShape& layer : choice.layers) {
    if (layer.flops < 0 || layer.parameters < 0 || layer.bytes < 0) {
      return Verdict::no("a layer with a negative figure", "figures are 0 or more");
    }
    parameters += layer.parameters;
  }
  if (parameters > 0) return Verdict::yes();
  return Verdict::no("no layer has parameters: there is nothing to train", "give one layer parameters of 1 or more");
}

template <class T>
std::unique_ptr<Model<T>> make(const ModelChoice& choice) {
  return std::make_unique<Layers<T>>(choice);
}

}  // namespace

const ModelEntry& layers_model() {
  static const ParameterSpec specs[] = {
      {"inputs", ParameterType::integer, "", "1024", 1, 16777216, "features of a sample, repeated to what layers read"},
      {"outputs", ParameterType::integer, "", "16", 1, 1048576, "labels of a sample"},
  };
  static const ModelEntry entry{"layers",    "a list of {flops, parameters, bytes}: your own model's shape",
                                specs,       supports,
                                make<float>, make<double>};
  return entry;
}

}  // namespace ringmaster::model
