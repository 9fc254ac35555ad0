// SPDX-License-Identifier: Apache-2.0
// Each operator's gradient against central differences in double precision, and the single precision forms against
// double. Differences: step 1e-5, so an error of about 1e-10 of the values' size.
#include "tensor/operators.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "base/random.hpp"
#include "tensor/attention.hpp"
#include "tensor/gemm.hpp"
#include "tensor/threads.hpp"

namespace ringmaster::tensor {
namespace {

using Values = std::vector<double>;

Values numbers(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  Values values(n);
  for (double& value : values) value = random.normal();
  return values;
}
std::vector<float> narrow(const Values& values) { return {values.begin(), values.end()}; }
std::span<const double> view(const Values& values) { return values; }

double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// `gradient` must be the slope of `loss` along each element of `values`.
void expect_gradient(Values& values, const Values& gradient, const std::function<double()>& loss) {
  ASSERT_EQ(values.size(), gradient.size());
  const std::size_t stride = std::max<std::size_t>(1, values.size() / 60);
  for (std::size_t i = 0; i < values.size(); i += stride) {
    const double kept = values[i];
    values[i] = kept + 1e-5;
    const double above = loss();
    values[i] = kept - 1e-5;
    const double below = loss();
    values[i] = kept;
    const double slope = (above - below) / 2e-5;
    ASSERT_NEAR(gradient[i], slope, 1e-7 + 1e-7 * std::abs(slope)) << i;
  }
}

TEST(Gelu, HasItsGradient) {
  Values in = numbers(50, 1), weights = numbers(50, 2), out(50), gradient = weights;
  in[0] = 20;
  in[1] = -20;
  gelu_backward(view(in), std::span(gradient));
  expect_gradient(in, gradient, [&] { return gelu(view(in), std::span(out)), dot(out, weights); });
}

TEST(Gelu, IsAccurateInSinglePrecision) {
  std::vector<float> in, out;
  for (float x = -30; x < 30; x += 0.0137F) in.push_back(x);
  out.resize(in.size());
  gelu(std::span<const float>(in), std::span(out));
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double x = static_cast<double>(in[i]);
    const double exact = 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    ASSERT_NEAR(static_cast<double>(out[i]), exact, 1e-6 + 1e-6 * std::abs(x)) << x;
  }
}

TEST(LayerNorm, HasItsGradients) {
  const std::size_t rows = 5, columns = 37;
  Values in = numbers(rows * columns, 1), gain = numbers(columns, 2), bias = numbers(columns, 3);
  Values weights = numbers(rows * columns, 4), out(rows * columns), mean(rows), rate(rows);
  const auto loss = [&] {
    layer_norm(view(in), Normalisation<double>{gain, bias, mean, rate}, std::span(out));
    return dot(out, weights);
  };
  loss();
  Values d_in(in.size()), d_gain(columns), d_bias(columns);
  layer_norm_backward_add(view(in), Normalisation<double>{gain, bias, mean, rate}, view(weights), std::span(d_in),
                          std::span(d_gain), std::span(d_bias));
  expect_gradient(in, d_in, loss);
  expect_gradient(gain, d_gain, loss);
  expect_gradient(bias, d_bias, loss);
}

// Lengths within a block, of whole blocks, and with a part of one.
TEST(Attention, HasItsGradient) {
  for (const std::int64_t length : {5, 64, 131}) {
    const AttentionShape shape{2, length, 12, 3};
    const auto tokens = static_cast<std::size_t>(2 * length);
    Values qkv = numbers(tokens * 36, 1), weights = numbers(tokens * 12, 2), out(tokens * 12);
    Values p(static_cast<std::size_t>(shape.probabilities())), scratch(static_cast<std::size_t>(shape.scratch()));
    Values gradient(qkv.size(), 1e9);
    const auto loss = [&] { return attention(shape, view(qkv), std::span(p), std::span(out)), dot(out, weights); };
    loss();
    attention_backward(shape, view(qkv), view(p), view(weights), std::span(scratch), std::span(gradient));
    expect_gradient(qkv, gradient, loss);
  }
}

TEST(Attention, IsTheTextbooksFormula) {
  const AttentionShape shape{1, 70, 4, 2};
  const Values qkv = numbers(70 * 12, 1);
  Values p(static_cast<std::size_t>(shape.probabilities())), out(70 * 4);
  attention(shape, view(qkv), std::span(p), std::span(out));
  for (std::size_t t = 0; t < 70; ++t) {
    for (std::size_t head = 0; head < 2; ++head) {
      double sum = 0, first = 0, second = 0;
      for (std::size_t s = 0; s <= t; ++s) {
        const double* q = &qkv[t * 12 + head * 2];
        const double* k = &qkv[s * 12 + 4 + head * 2];
        const double e = std::exp((q[0] * k[0] + q[1] * k[1]) / std::sqrt(2.0));
        sum += e;
        first += e * k[4];
        second += e * k[5];
      }
      ASSERT_NEAR(out[t * 4 + head * 2], first / sum, 1e-12);
      ASSERT_NEAR(out[t * 4 + head * 2 + 1], second / sum, 1e-12);
    }
  }
}

TEST(SoftmaxCrossEntropy, HasItsGradient) {
  Values logits = numbers(7 * 33, 1);
  const std::vector<std::int32_t> targets = {0, 32, 5, 5, 9, 31, 1};
  const auto loss = [&] {
    Values copy = logits;
    return 1.5 * softmax_cross_entropy(std::span(copy), targets);
  };
  Values p = logits, gradient(logits.size());
  softmax_cross_entropy(std::span(p), targets);
  softmax_cross_entropy_backward(view(p), targets, 1.5, std::span(gradient));
  expect_gradient(logits, gradient, loss);
}

TEST(SoftmaxCrossEntropy, SurvivesLargeLogits) {
  std::vector<float> logits = {1e4F, -1e4F, 0, 3e4F};
  const std::vector<std::int32_t> targets = {3};
  EXPECT_EQ(softmax_cross_entropy(std::span(logits), targets), 0);
  EXPECT_EQ(logits[3], 1);
}

TEST(Embedding, HasItsGradients) {
  const std::vector<std::int32_t> tokens = {3, 0, 3, 1, 1, 3};
  Values table = numbers(4 * 5, 1), positions = numbers(3 * 5, 2), weights = numbers(30, 3), out(30);
  Values d_table(20), d_positions(15);
  embedding_backward_add(tokens, 5, view(weights), std::span(d_table), std::span(d_positions));
  const auto loss = [&] {
    return embedding(tokens, 5, view(table), view(positions), std::span(out)), dot(out, weights);
  };
  expect_gradient(table, d_table, loss);
  expect_gradient(positions, d_positions, loss);
}

TEST(SquareError, HasItsGradient) {
  Values in = numbers(40, 1), gradient(40);
  const Values labels = numbers(40, 2);
  square_error_backward(view(in), view(labels), 3.0, std::span(gradient));
  expect_gradient(in, gradient, [&] { return 3 * square_error(view(in), view(labels)); });
}

TEST(Rows, AreFilledAddedAndSummed) {
  const Values bias = {1, 2, 3}, in = {10, 20, 30, 40, 50, 60};
  Values out(6), sums = {1, 1, 1};
  fill_rows(view(bias), std::span(out));
  EXPECT_EQ(out, (Values{1, 2, 3, 1, 2, 3}));
  add_rows(view(in), view(bias), std::span(out));
  EXPECT_EQ(out, (Values{11, 22, 33, 41, 52, 63}));
  column_sums_add(view(in), std::span(sums));
  EXPECT_EQ(sums, (Values{51, 71, 91}));
}

// Sums may not depend on where in a cache line values lie.
TEST(Operators, GiveTheSameBitsAtAnyAlignment) {
  const std::size_t columns = 133, rows = 3, n = columns * rows;
  const std::vector<float> values = narrow(numbers(n, 1)), gain = narrow(numbers(columns, 2));
  std::vector<float> expected;
  for (std::size_t shift = 0; shift < 17; ++shift) {
    std::vector<float> in(n + 17), out(n), mean(rows), rate(rows);
    std::copy(values.begin(), values.end(), in.begin() + static_cast<std::ptrdiff_t>(shift));
    std::vector<float> moved = gain;
    layer_norm(std::span<const float>(in).subspan(shift, n), Normalisation<float>{moved, moved, mean, rate},
               std::span(out));
    if (shift == 0) expected = out;
    ASSERT_EQ(out, expected) << shift;
  }
}

TEST(Gemm, ReadsTransposedAndStridedMatrices) {
  const Values a = numbers(4 * 9, 1), b = numbers(5 * 9, 2);
  Values c(4 * 7, 1);
  gemm(Product<double>{4, 5, 3, {a.data(), 9}, {b.data(), 9, Transpose::yes}, {c.data(), 7}, 2, 3});
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 5; ++j) {
      double sum = 3;
      for (std::size_t k = 0; k < 3; ++k) sum += 2 * a[i * 9 + k] * b[j * 9 + k];
      EXPECT_NEAR(c[i * 7 + j], sum, 1e-13);
    }
    EXPECT_EQ(c[i * 7 + 5], 1);
  }
}

TEST(Gemm, TakesTimeAndSaysWhatItIs) {
  set_threads(1);
  EXPECT_GT(gemm_seconds(64), 0);
  EXPECT_NE(blas_description().find("OpenBLAS"), std::string::npos);
}

}  // namespace
}  // namespace ringmaster::tensor
