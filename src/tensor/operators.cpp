// SPDX-License-Identifier: Apache-2.0
#include "tensor/operators.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "tensor/simd.hpp"

namespace ringmaster::tensor {
namespace {

// Loops over one row or one range: written once, compiled for wide processors in single precision.
template <class T>
[[gnu::always_inline]] inline T gelu_rate(T x) {
  const T u = T(1.5957691216057308) * x * (T{1} + T(0.044715) * x * x);  // twice the argument of tanh
  return T{1} / (T{1} + fast_exp(-u));                                   // (1 + tanh) / 2
}

template <class T>
[[gnu::always_inline]] inline void gelu_loop(const T* __restrict in, T* __restrict out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] * gelu_rate(in[i]);
}

template <class T>
[[gnu::always_inline]] inline void gelu_backward_loop(const T* __restrict in, T* __restrict g, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const T x = in[i];
    const T s = gelu_rate(x);
    const T slope = T(1.5957691216057308) * (T{1} + T(0.134145) * x * x);
    g[i] *= s + x * s * (T{1} - s) * slope;
  }
}

template <class T>
[[gnu::always_inline]] inline void norm_row(const T* in, const T* gain, const T* bias, T* mean, T* rate, T* out,
                                            std::int64_t n) {
  const T m = lane_sum<T>(n, [in](std::int64_t i) { return in[i]; }) / static_cast<T>(n);
  const T variance = lane_sum<T>(n, [in, m](std::int64_t i) { return (in[i] - m) * (in[i] - m); }) / static_cast<T>(n);
  const T r = T{1} / std::sqrt(variance + T(1e-5));
  for (std::int64_t i = 0; i < n; ++i) out[i] = (in[i] - m) * r * gain[i] + bias[i];
  *mean = m;
  *rate = r;
}

template <class T>
[[gnu::always_inline]] inline void norm_row_backward(const T* __restrict in, const T* __restrict gain, T m, T r,
                                                     const T* __restrict g, T* __restrict in_g, T* __restrict gain_g,
                                                     T* __restrict bias_g, std::int64_t n) {
  const T a = lane_sum<T>(n, [=](std::int64_t i) { return g[i] * gain[i]; }) / static_cast<T>(n);
  const T b = lane_sum<T>(n, [=](std::int64_t i) { return g[i] * gain[i] * ((in[i] - m) * r); }) / static_cast<T>(n);
  for (std::int64_t i = 0; i < n; ++i) {
    const T x = (in[i] - m) * r;
    in_g[i] += r * (g[i] * gain[i] - a - x * b);
    gain_g[i] += g[i] * x;
    bias_g[i] += g[i];
  }
}

template <class T>
[[gnu::always_inline]] inline void add_loop(const T* __restrict in, T* __restrict out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] += in[i];
}

template <class T>
[[gnu::always_inline]] inline void sum_loop(const T* __restrict a, const T* __restrict b, T* __restrict out,
                                            std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}

// Returns log(sum(exp(row))) - row[target].
template <class T>
[[gnu::always_inline]] inline T softmax_row(T* row, std::int64_t n, std::int64_t target) {
  T most = row[0];
  for (std::int64_t i = 1; i < n; ++i) most = row[i] > most ? row[i] : most;
  const T wanted = row[target] - most;
  for (std::int64_t i = 0; i < n; ++i) row[i] = fast_exp(row[i] - most);
  const T sum = lane_sum<T>(n, [row](std::int64_t i) { return row[i]; });
  const T rate = T{1} / sum;
  for (std::int64_t i = 0; i < n; ++i) row[i] *= rate;
  return std::log(sum) - wanted;
}

template <class T>
[[gnu::always_inline]] inline void scale_loop(const T* __restrict in, T scale, T* __restrict out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] * scale;
}

// One overload a type, so that templates above call one name; only float is cloned.
RINGMASTER_CLONES void run_gelu(const float* in, float* out, std::int64_t n) { gelu_loop(in, out, n); }
void run_gelu(const double* in, double* out, std::int64_t n) { gelu_loop(in, out, n); }
RINGMASTER_CLONES void run_gelu_backward(const float* in, float* g, std::int64_t n) { gelu_backward_loop(in, g, n); }
void run_gelu_backward(const double* in, double* g, std::int64_t n) { gelu_backward_loop(in, g, n); }
RINGMASTER_CLONES void run_norm(const float* in, const float* gain, const float* bias, float* mean, float* rate,
                                float* out, std::int64_t n) {
  norm_row(in, gain, bias, mean, rate, out, n);
}
void run_norm(const double* in, const double* gain, const double* bias, double* mean, double* rate, double* out,
              std::int64_t n) {
  norm_row(in, gain, bias, mean, rate, out, n);
}
RINGMASTER_CLONES void run_norm_backward(const float* in, const float* gain, float m, float r, const float* g,
                                         float* in_g, float* gain_g, float* bias_g, std::int64_t n) {
  norm_row_backward(in, gain, m, r, g, in_g, gain_g, bias_g, n);
}
void run_norm_backward(const double* in, const double* gain, double m, double r, const double* g, double* in_g,
                       double* gain_g, double* bias_g, std::int64_t n) {
  norm_row_backward(in, gain, m, r, g, in_g, gain_g, bias_g, n);
}
RINGMASTER_CLONES void run_add(const float* in, float* out, std::int64_t n) { add_loop(in, out, n); }
void run_add(const double* in, double* out, std::int64_t n) { add_loop(in, out, n); }
RINGMASTER_CLONES void run_sum(const float* a, const float* b, float* out, std::int64_t n) { sum_loop(a, b, out, n); }
void run_sum(const double* a, const double* b, double* out, std::int64_t n) { sum_loop(a, b, out, n); }
RINGMASTER_CLONES float run_softmax(float* row, std::int64_t n, std::int64_t target) {
  return softmax_row(row, n, target);
}
double run_softmax(double* row, std::int64_t n, std::int64_t target) { return softmax_row(row, n, target); }
RINGMASTER_CLONES void run_scale(const float* in, float scale, float* out, std::int64_t n) {
  scale_loop(in, scale, out, n);
}
void run_scale(const double* in, double scale, double* out, std::int64_t n) { scale_loop(in, scale, out, n); }

RINGMASTER_CLONES double run_squares(const float* values, std::int64_t n) {
  return lane_sum<double>(
      n, [values](std::int64_t i) { return static_cast<double>(values[i]) * static_cast<double>(values[i]); });
}

template <class C>
std::int64_t size_of(const C& values) {
  return static_cast<std::int64_t>(values.size());
}

}  // namespace

template <class T>
void fill_rows(std::span<const T> bias, std::span<T> out) {
  for (std::size_t at = 0; at < out.size(); at += bias.size()) std::copy(bias.begin(), bias.end(), &out[at]);
}

template <class T>
void add_rows(std::span<const T> in, std::span<const T> bias, std::span<T> out) {
  for (std::size_t at = 0; at < out.size(); at += bias.size()) run_sum(&in[at], bias.data(), &out[at], size_of(bias));
}

template <class T>
void column_sums_add(std::span<const T> in, std::span<T> out) {
  for (std::size_t at = 0; at < in.size(); at += out.size()) run_add(&in[at], out.data(), size_of(out));
}

template <class T>
void add(std::span<const T> in, std::span<T> out) {
  run_add(in.data(), out.data(), size_of(out));
}

template <class T>
void gelu(std::span<const T> in, std::span<T> out) {
  run_gelu(in.data(), out.data(), size_of(out));
}

template <class T>
void gelu_backward(std::span<const T> in, std::span<T> gradient) {
  run_gelu_backward(in.data(), gradient.data(), size_of(gradient));
}

template <class T>
void layer_norm(std::span<const T> in, const Normalisation<T>& norm, std::span<T> out) {
  const std::size_t columns = norm.gain.size();
  for (std::size_t row = 0; row * columns < out.size(); ++row) {
    run_norm(&in[row * columns], norm.gain.data(), norm.bias.data(), &norm.mean[row], &norm.rate[row],
             &out[row * columns], size_of(norm.gain));
  }
}

template <class T>
void layer_norm_backward_add(std::span<const T> in, const Normalisation<T>& norm, std::span<const T> out_gradient,
                             std::span<T> in_gradient, std::span<T> gain_gradient, std::span<T> bias_gradient) {
  const std::size_t columns = norm.gain.size();
  for (std::size_t row = 0; row * columns < out_gradient.size(); ++row) {
    run_norm_backward(&in[row * columns], norm.gain.data(), norm.mean[row], norm.rate[row],
                      &out_gradient[row * columns], &in_gradient[row * columns], gain_gradient.data(),
                      bias_gradient.data(), size_of(norm.gain));
  }
}

template <class T>
void embedding(std::span<const std::int32_t> tokens, std::int64_t columns, std::span<const T> table,
               std::span<const T> positions, std::span<T> out) {
  const std::int64_t length = size_of(positions) / columns;
  for (std::int64_t i = 0; i < size_of(tokens); ++i) {
    const std::int64_t token = tokens[static_cast<std::size_t>(i)];
    RINGMASTER_ASSERT(token >= 0 && (token + 1) * columns <= size_of(table), "a token outside of the vocabulary");
    run_sum(table.data() + token * columns, positions.data() + (i % length) * columns, out.data() + i * columns,
            columns);
  }
}

template <class T>
void embedding_backward_add(std::span<const std::int32_t> tokens, std::int64_t columns, std::span<const T> gradient,
                            std::span<T> table_gradient, std::span<T> positions_gradient) {
  const std::int64_t length = size_of(positions_gradient) / columns;
  for (std::int64_t i = 0; i < size_of(tokens); ++i) {
    const T* const row = gradient.data() + i * columns;
    run_add(row, table_gradient.data() + tokens[static_cast<std::size_t>(i)] * columns, columns);
    run_add(row, positions_gradient.data() + (i % length) * columns, columns);
  }
}

template <class T>
double softmax_cross_entropy(std::span<T> logits, std::span<const std::int32_t> targets) {
  const std::int64_t columns = size_of(logits) / size_of(targets);
  double sum = 0;
  for (std::int64_t row = 0; row < size_of(targets); ++row) {
    const std::int64_t target = targets[static_cast<std::size_t>(row)];
    RINGMASTER_ASSERT(target >= 0 && target < columns, "a target outside of the vocabulary");
    sum += static_cast<double>(run_softmax(logits.data() + row * columns, columns, target));
  }
  return sum / static_cast<double>(targets.size());
}

template <class T>
void softmax_cross_entropy_backward(std::span<const T> probabilities, std::span<const std::int32_t> targets, T scale,
                                    std::span<T> gradient) {
  const std::int64_t columns = size_of(probabilities) / size_of(targets);
  const T each = scale / static_cast<T>(targets.size());
  run_scale(probabilities.data(), each, gradient.data(), size_of(gradient));
  for (std::int64_t row = 0; row < size_of(targets); ++row) {
    gradient[static_cast<std::size_t>(row * columns + targets[static_cast<std::size_t>(row)])] -= each;
  }
}

template <class T>
double square_error(std::span<const T> predictions, std::span<const T> labels) {
  double sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double difference = static_cast<double>(predictions[i]) - static_cast<double>(labels[i]);
    sum += difference * difference;
  }
  return sum / static_cast<double>(labels.size());
}

template <class T>
void square_error_backward(std::span<const T> predictions, std::span<const T> labels, T scale, std::span<T> gradient) {
  const T each = T{2} * scale / static_cast<T>(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) gradient[i] = each * (predictions[i] - labels[i]);
}

double squared_norm(std::span<const float> values) { return run_squares(values.data(), size_of(values)); }

#define RINGMASTER_INSTANTIATE(T)                                                                                      \
  template void fill_rows(std::span<const T>, std::span<T>);                                                           \
  template void add_rows(std::span<const T>, std::span<const T>, std::span<T>);                                        \
  template void column_sums_add(std::span<const T>, std::span<T>);                                                     \
  template void add(std::span<const T>, std::span<T>);                                                                 \
  template void gelu(std::span<const T>, std::span<T>);                                                                \
  template void gelu_backward(std::span<const T>, std::span<T>);                                                       \
  template void layer_norm(std::span<const T>, const Normalisation<T>&, std::span<T>);                                 \
  template void layer_norm_backward_add(std::span<const T>, const Normalisation<T>&, std::span<const T>, std::span<T>, \
                                        std::span<T>, std::span<T>);                                                   \
  template void embedding(std::span<const std::int32_t>, std::int64_t, std::span<const T>, std::span<const T>,         \
                          std::span<T>);                                                                               \
  template void embedding_backward_add(std::span<const std::int32_t>, std::int64_t, std::span<const T>, std::span<T>,  \
                                       std::span<T>);                                                                  \
  template double softmax_cross_entropy(std::span<T>, std::span<const std::int32_t>);                                  \
  template void softmax_cross_entropy_backward(std::span<const T>, std::span<const std::int32_t>, T, std::span<T>);    \
  template double square_error(std::span<const T>, std::span<const T>);                                                \
  template void square_error_backward(std::span<const T>, std::span<const T>, T, std::span<T>);
RINGMASTER_INSTANTIATE(float)
RINGMASTER_INSTANTIATE(double)
#undef RINGMASTER_INSTANTIATE

}  // namespace ringmaster::tensor
