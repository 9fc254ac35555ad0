// SPDX-License-Identifier: Apache-2.0
// Decoder-only transformer: pre-norm blocks of causal attention and a GELU mlp, learned positions, token embedding tied
// to the output (Radford et al. 2019). Layers: embedding, block.attention and block.mlp by turns, head.
// Backward carries the residual stream's gradient in one matrix; each layer adds its own part.
#include <fmt/core.h>

#include <cmath>

#include "model/detail/layered.hpp"
#include "tensor/attention.hpp"

namespace ringmaster::model {
namespace {

struct Shape {
  std::int64_t layers, width, heads, context, vocabulary;
};

Shape shape_of(const ModelChoice& choice) {
  const Parameters& p = choice.parameters;
  return {p.integer("layers"), p.integer("width"), p.integer("heads"), p.integer("context"), p.integer("vocabulary")};
}

// One half of a block: a norm and two linear maps with attention or GELU between them.
template <class T>
struct Half {
  int gain, norm_bias, in_weight, in_bias, out_weight, out_bias;
  detail::Memory<T> mean, rate, normed, inner, middle, probabilities, out;
};

template <class T>
class Transformer final : public detail::Layered<T> {
 public:
  explicit Transformer(const Shape& shape) : shape_(shape) {
    const auto [layers, width, heads, context, vocabulary] = shape;
    table_ = this->add_parameter({"embedding.tokens", {vocabulary, width}, Initializer::normal, 0.02, true, 0});
    positions_ = this->add_parameter({"embedding.positions", {context, width}, Initializer::normal, 0.02, false, -1});
    this->add_layer("embedding", {table_, positions_});
    halves_.resize(static_cast<std::size_t>(2 * layers));
    for (std::int64_t i = 0; i < 2 * layers; ++i) {
      const bool attends = i % 2 == 0;
      add_half(halves_[static_cast<std::size_t>(i)], fmt::format("block{}.{}", i / 2, attends ? "attention" : "mlp"),
               attends ? 3 * width : 4 * width, attends ? width : 4 * width);
    }
    gain_ = this->add_parameter({"head.norm.gain", {width}, Initializer::ones, 0, false, -1});
    bias_ = this->add_parameter({"head.norm.bias", {width}, Initializer::zeros, 0, false, -1});
    this->add_layer("head", {gain_, bias_, table_});
  }

  InputShape input() const override { return {true, shape_.context, shape_.vocabulary, 0}; }

  double flops_per_sample() const override {
    const auto [layers, width, heads, context, vocabulary] = shape_;
    const double matrices = static_cast<double>(12 * layers * width * width + vocabulary * width);
    const double tokens = static_cast<double>(context);
    return 6 * matrices * tokens + 6 * static_cast<double>(layers * width) * tokens * tokens;
  }

 private:
  void add_half(Half<T>& half, const std::string& name, std::int64_t inner, std::int64_t middle) {
    const std::int64_t width = shape_.width;
    // The residual stream sums 2 x layers outputs: each starts smaller by the root of that (Radford et al. 2019).
    const double out = 0.02 / std::sqrt(2.0 * static_cast<double>(shape_.layers));
    half.gain = this->add_parameter({name + ".norm.gain", {width}, Initializer::ones, 0, false, -1});
    half.norm_bias = this->add_parameter({name + ".norm.bias", {width}, Initializer::zeros, 0, false, -1});
    half.in_weight = this->add_parameter({name + ".in.weight", {width, inner}, Initializer::normal, 0.02, true, 1});
    half.in_bias = this->add_parameter({name + ".in.bias", {inner}, Initializer::zeros, 0, false, 0});
    half.out_weight = this->add_parameter({name + ".out.weight", {middle, width}, Initializer::normal, out, true, 0});
    half.out_bias = this->add_parameter({name + ".out.bias", {width}, Initializer::zeros, 0, false, -1});
    this->add_layer(name, {half.gain, half.norm_bias, half.in_weight, half.in_bias, half.out_weight, half.out_bias});
  }

  bool attends(int layer) const { return layer % 2 == 1; }
  bool is_head(int layer) const { return layer == this->layer_count() - 1; }
  std::int64_t inner_of(int layer) const { return attends(layer) ? 3 * shape_.width : 4 * shape_.width; }
  std::int64_t middle_of(int layer) const { return attends(layer) ? shape_.width : 4 * shape_.width; }
  Half<T>& half(int layer) { return halves_[static_cast<std::size_t>(layer - 1)]; }
  tensor::AttentionShape attention_shape(std::int64_t samples) const {
    return {samples, shape_.context, shape_.width, shape_.heads};
  }
  /// The residual stream before a layer.
  std::span<T> stream(int layer, std::int64_t rows) {
    return (layer == 1 ? embedded_ : half(layer - 1).out).first(rows * shape_.width);
  }

  void check(const Input<T>& input) const override {
    const auto tokens = static_cast<std::size_t>(input.samples * shape_.context);
    RINGMASTER_ASSERT(input.tokens.size() == tokens && input.targets.size() == tokens, "B x T tokens and targets");
  }

  void allocate(std::int64_t samples) override {
    const std::int64_t rows = samples * shape_.context;
    embedded_.resize(rows * shape_.width);
    for (int layer = 1; layer + 1 < this->layer_count(); ++layer) {
      Half<T>& h = half(layer);
      h.mean.resize(rows);
      h.rate.resize(rows);
      h.normed.resize(rows * shape_.width);
      h.inner.resize(rows * inner_of(layer));
      h.middle.resize(rows * middle_of(layer));
      h.out.resize(rows * shape_.width);
      if (attends(layer)) h.probabilities.resize(attention_shape(samples).probabilities());
    }
    mean_.resize(rows);
    rate_.resize(rows);
    normed_.resize(rows * shape_.width);
    logits_.resize(rows * shape_.vocabulary);
    d_logits_.resize(rows * shape_.vocabulary);
    d_stream_.resize(rows * shape_.width);
    d_normed_.resize(rows * shape_.width);
    d_inner_.resize(rows * 4 * shape_.width);
    scratch_.resize(attention_shape(samples).scratch());
  }

  void forward_layer(int layer, const Input<T>& input) override {
    const std::int64_t rows = input.samples * shape_.context;
    if (layer == 0) {
      tensor::embedding(input.tokens, shape_.width, detail::constant(this->parameter(table_)),
                        detail::constant(this->parameter(positions_)), embedded_.first(rows * shape_.width));
    } else if (is_head(layer)) {
      head_forward(input, rows);
    } else {
      half_forward(layer, input.samples, rows);
    }
  }

  void half_forward(int layer, std::int64_t samples, std::int64_t rows) {
    Half<T>& h = half(layer);
    const std::int64_t width = shape_.width;
    const std::int64_t inner = inner_of(layer);
    const std::span<T> in = stream(layer, rows);
    const std::span<T> out = h.out.first(rows * width);
    tensor::layer_norm(detail::constant(in), norm(h, rows), h.normed.first(rows * width));
    tensor::fill_rows(detail::constant(this->parameter(h.in_bias)), h.inner.first(rows * inner));
    this->multiply(h.normed.data(), rows, width, inner, h.in_weight, T{1}, h.inner.data());
    const std::span<const T> before = h.inner.first(rows * inner);
    if (attends(layer)) {
      const tensor::AttentionShape shape = attention_shape(samples);
      tensor::attention(shape, before, h.probabilities.first(shape.probabilities()), h.middle.first(rows * width));
    } else {
      tensor::gelu(before, h.middle.first(rows * inner));
    }
    tensor::add_rows(detail::constant(in), detail::constant(this->parameter(h.out_bias)), out);
    this->multiply(h.middle.data(), rows, middle_of(layer), width, h.out_weight, T{1}, out.data());
  }

  void head_forward(const Input<T>& input, std::int64_t rows) {
    const std::int64_t width = shape_.width;
    tensor::layer_norm(detail::constant(stream(this->layer_count() - 1, rows)), head_norm(rows),
                       normed_.first(rows * width));
    tensor::gemm(tensor::Product<T>{rows,
                                    shape_.vocabulary,
                                    width,
                                    {normed_.data(), width},
                                    {this->parameter(table_).data(), width, tensor::Transpose::yes},
                                    {logits_.data(), shape_.vocabulary}});
    this->loss_ = tensor::softmax_cross_entropy(logits_.first(rows * shape_.vocabulary), input.targets);
  }

  void backward_layer(int layer, const Input<T>& input) override {
    const std::int64_t rows = input.samples * shape_.context;
    if (layer == 0) {
      // The head has already written its part of the tied table's gradient.
      tensor::embedding_backward_add(input.tokens, shape_.width, detail::constant(d_stream_.first(rows * shape_.width)),
                                     this->gradient(table_), this->cleared_gradient(positions_));
    } else if (is_head(layer)) {
      head_backward(input, rows);
    } else {
      half_backward(layer, input.samples, rows);
    }
  }

  void head_backward(const Input<T>& input, std::int64_t rows) {
    const std::int64_t width = shape_.width;
    const std::int64_t vocabulary = shape_.vocabulary;
    tensor::softmax_cross_entropy_backward(detail::constant(logits_.first(rows * vocabulary)), input.targets,
                                           this->scale_, d_logits_.first(rows * vocabulary));
    tensor::gemm(tensor::Product<T>{vocabulary,
                                    width,
                                    rows,
                                    {d_logits_.data(), vocabulary, tensor::Transpose::yes},
                                    {normed_.data(), width},
                                    {this->gradient(table_).data(), width},
                                    T{1},
                                    this->beta_});
    tensor::gemm(tensor::Product<T>{rows,
                                    width,
                                    vocabulary,
                                    {d_logits_.data(), vocabulary},
                                    {this->parameter(table_).data(), width},
                                    {d_normed_.data(), width}});
    const std::span<T> above = d_stream_.first(rows * width);
    std::fill(above.begin(), above.end(), T{0});
    tensor::layer_norm_backward_add(detail::constant(stream(this->layer_count() - 1, rows)), head_norm(rows),
                                    detail::constant(d_normed_.first(rows * width)), above,
                                    this->cleared_gradient(gain_), this->cleared_gradient(bias_));
  }

  void half_backward(int layer, std::int64_t samples, std::int64_t rows) {
    Half<T>& h = half(layer);
    const std::int64_t width = shape_.width;
    const std::int64_t inner = inner_of(layer);
    const std::int64_t middle = middle_of(layer);
    const std::span<T> above = d_stream_.first(rows * width);
    tensor::column_sums_add(detail::constant(above), this->cleared_gradient(h.out_bias));
    this->weight_gradient(h.middle.data(), above.data(), rows, middle, width, h.out_weight);
    const std::span<T> d_inner = d_inner_.first(rows * inner);
    if (attends(layer)) {
      const tensor::AttentionShape shape = attention_shape(samples);
      this->input_gradient(above.data(), rows, middle, width, h.out_weight, d_normed_.data());
      tensor::attention_backward(shape, detail::constant(h.inner.first(rows * inner)),
                                 detail::constant(h.probabilities.first(shape.probabilities())),
                                 detail::constant(d_normed_.first(rows * width)), scratch_.first(shape.scratch()),
                                 d_inner);
    } else {
      this->input_gradient(above.data(), rows, middle, width, h.out_weight, d_inner.data());
      tensor::gelu_backward(detail::constant(h.inner.first(rows * inner)), d_inner);
    }
    tensor::column_sums_add(detail::constant(d_inner), this->cleared_gradient(h.in_bias));
    this->weight_gradient(h.normed.data(), d_inner.data(), rows, width, inner, h.in_weight);
    this->input_gradient(d_inner.data(), rows, width, inner, h.in_weight, d_normed_.data());
    tensor::layer_norm_backward_add(detail::constant(stream(layer, rows)), norm(h, rows),
                                    detail::constant(d_normed_.first(rows * width)), above,
                                    this->cleared_gradient(h.gain), this->cleared_gradient(h.norm_bias));
  }

  tensor::Normalisation<T> norm(const Half<T>& h, std::int64_t rows) const {
    return {this->parameter(h.gain), this->parameter(h.norm_bias), h.mean.first(rows), h.rate.first(rows)};
  }
  tensor::Normalisation<T> head_norm(std::int64_t rows) const {
    return {this->parameter(gain_), this->parameter(bias_), mean_.first(rows), rate_.first(rows)};
  }

  Shape shape_;
  int table_ = 0, positions_ = 0, gain_ = 0, bias_ = 0;
  std::vector<Half<T>> halves_;
  detail::Memory<T> embedded_, mean_, rate_, normed_, logits_;
  detail::Memory<T> d_logits_, d_stream_, d_normed_, d_inner_, scratch_;
};

Verdict supports(const ModelChoice& choice) {
  const Shape shape = shape_of(choice);
  if (shape.width % shape.heads == 0) return Verdict::yes();
  const std::int64_t above = (shape.width / shape.heads + 1) * shape.heads;
  return Verdict::no(fmt::format("width {} is no multiple of heads {}", shape.width, shape.heads),
                     fmt::format("such as width: {}", above));
}

template <class T>
std::unique_ptr<Model<T>> make(const ModelChoice& choice) {
  return std::make_unique<Transformer<T>>(shape_of(choice));
}

}  // namespace

const ModelEntry& transformer_model() {
  static const ParameterSpec specs[] = {
      {"layers", ParameterType::integer, "", "4", 1, 256, "blocks of attention and mlp"},
      {"width", ParameterType::integer, "", "256", 1, 65536, "of the residual stream; a multiple of heads"},
      {"heads", ParameterType::integer, "", "4", 1, 1024, "of attention"},
      {"context", ParameterType::integer, "tokens", "128", 1, 65536, "tokens of a sample"},
      {"vocabulary", ParameterType::integer, "", "256", 2, 1048576, "tokens that there are; text is bytes"},
  };
  static const ModelEntry entry{
      "transformer", "decoder-only language model with causal attention", specs, supports, make<float>, make<double>};
  return entry;
}

}  // namespace ringmaster::model
