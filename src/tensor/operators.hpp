// SPDX-License-Identifier: Apache-2.0
// The network's operators besides products, forward and backward, for float (training) and double (gradient checks).
// Matrices are row-major and dense; sizes come from the spans and the `columns` given. Nothing allocates. Names in
// `_add` or `add` add to their target; sums run in a fixed order, so equal inputs give equal bits.
#pragma once

#include <cstdint>
#include <span>

namespace ringmaster::tensor {

/// Each row of out = bias.
template <class T>
void fill_rows(std::span<const T> bias, std::span<T> out);
/// out = in + bias (bias repeated over rows).
template <class T>
void add_rows(std::span<const T> in, std::span<const T> bias, std::span<T> out);
/// out += column sums of in.
template <class T>
void column_sums_add(std::span<const T> in, std::span<T> out);
/// out += in.
template <class T>
void add(std::span<const T> in, std::span<T> out);

/// GELU, tanh form (Hendrycks and Gimpel 2016).
template <class T>
void gelu(std::span<const T> in, std::span<T> out);
/// gradient *= gelu'(in).
template <class T>
void gelu_backward(std::span<const T> in, std::span<T> gradient);

/// What layer normalisation reads and keeps. Rows of `columns` = gain.size(); mean and rate hold one number a row.
template <class T>
struct Normalisation {
  std::span<const T> gain;
  std::span<const T> bias;
  std::span<T> mean;
  std::span<T> rate;  // 1 / deviation
};
template <class T>
void layer_norm(std::span<const T> in, const Normalisation<T>& norm, std::span<T> out);
/// in_gradient += ...; gain_gradient, bias_gradient += ...
template <class T>
void layer_norm_backward_add(std::span<const T> in, const Normalisation<T>& norm, std::span<const T> out_gradient,
                             std::span<T> in_gradient, std::span<T> gain_gradient, std::span<T> bias_gradient);

/// out (B T, C) = table[tokens] + positions[t]; positions has `length` rows.
template <class T>
void embedding(std::span<const std::int32_t> tokens, std::int64_t columns, std::span<const T> table,
               std::span<const T> positions, std::span<T> out);
template <class T>
void embedding_backward_add(std::span<const std::int32_t> tokens, std::int64_t columns, std::span<const T> gradient,
                            std::span<T> table_gradient, std::span<T> positions_gradient);

/// Logits become probabilities; returns the mean cross-entropy over rows.
template <class T>
double softmax_cross_entropy(std::span<T> logits, std::span<const std::int32_t> targets);
/// gradient of scale * mean cross-entropy with respect to the logits.
template <class T>
void softmax_cross_entropy_backward(std::span<const T> probabilities, std::span<const std::int32_t> targets, T scale,
                                    std::span<T> gradient);

/// Mean of (prediction - label)^2 over all elements.
template <class T>
double square_error(std::span<const T> predictions, std::span<const T> labels);
template <class T>
void square_error_backward(std::span<const T> predictions, std::span<const T> labels, T scale, std::span<T> gradient);

/// Sum of squares in double precision.
double squared_norm(std::span<const float> values);

}  // namespace ringmaster::tensor
