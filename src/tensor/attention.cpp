// SPDX-License-Identifier: Apache-2.0
#include "tensor/attention.hpp"

#include <algorithm>
#include <cmath>

#include "tensor/gemm.hpp"
#include "tensor/simd.hpp"

namespace ringmaster::tensor {
namespace {

// Row i of a block may see the keys [0, first + i]. Probabilities of later keys in the block become 0.
template <class T>
[[gnu::always_inline]] inline void softmax_rows(T* rows, std::int64_t count, std::int64_t first, std::int64_t keys,
                                                std::int64_t stride) {
  for (std::int64_t i = 0; i < count; ++i) {
    T* const row = rows + i * stride;
    const std::int64_t seen = first + i + 1;
    T most = row[0];
    for (std::int64_t j = 1; j < seen; ++j) most = row[j] > most ? row[j] : most;
    for (std::int64_t j = 0; j < seen; ++j) row[j] = fast_exp(row[j] - most);
    const T sum = lane_sum<T>(seen, [row](std::int64_t j) { return row[j]; });
    const T rate = T{1} / sum;
    for (std::int64_t j = 0; j < seen; ++j) row[j] *= rate;
    for (std::int64_t j = seen; j < keys; ++j) row[j] = 0;
  }
}

// gradient = p (gradient - sum(p gradient)), per row.
template <class T>
[[gnu::always_inline]] inline void softmax_rows_backward(const T* rows, T* gradient, std::int64_t count,
                                                         std::int64_t keys, std::int64_t stride) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T* const p = rows + i * stride;
    T* const g = gradient + i * stride;
    const T sum = lane_sum<T>(keys, [p, g](std::int64_t j) { return p[j] * g[j]; });
    for (std::int64_t j = 0; j < keys; ++j) g[j] = p[j] * (g[j] - sum);
  }
}

RINGMASTER_CLONES void block_softmax(float* rows, std::int64_t count, std::int64_t first, std::int64_t keys,
                                     std::int64_t stride) {
  softmax_rows(rows, count, first, keys, stride);
}
void block_softmax(double* rows, std::int64_t count, std::int64_t first, std::int64_t keys, std::int64_t stride) {
  softmax_rows(rows, count, first, keys, stride);
}
RINGMASTER_CLONES void block_softmax_backward(const float* rows, float* gradient, std::int64_t count, std::int64_t keys,
                                              std::int64_t stride) {
  softmax_rows_backward(rows, gradient, count, keys, stride);
}
void block_softmax_backward(const double* rows, double* gradient, std::int64_t count, std::int64_t keys,
                            std::int64_t stride) {
  softmax_rows_backward(rows, gradient, count, keys, stride);
}

// Where the queries of one head of one sample begin; keys and values lie one and two widths on.
std::int64_t head_offset(const AttentionShape& s, std::int64_t sample, std::int64_t head, std::int64_t stride) {
  return sample * s.length * stride + head * (s.width / s.heads);
}

template <class T>
void head_forward(const AttentionShape& s, const T* q, T* p, T* out) {
  const std::int64_t size = s.width / s.heads;
  const std::int64_t stride = 3 * s.width;
  const T scale = T{1} / std::sqrt(static_cast<T>(size));
  for (std::int64_t first = 0; first < s.length; first += AttentionShape::block) {
    const std::int64_t rows = std::min(AttentionShape::block, s.length - first);
    const std::int64_t keys = first + rows;
    T* const block = p + first * s.length;
    gemm(Product<T>{rows,
                    keys,
                    size,
                    {q + first * stride, stride},
                    {q + s.width, stride, Transpose::yes},
                    {block, s.length},
                    scale,
                    0});
    block_softmax(block, rows, first, keys, s.length);
    gemm(Product<T>{rows, size, keys, {block, s.length}, {q + 2 * s.width, stride}, {out + first * s.width, s.width}});
  }
}

template <class T>
void head_backward(const AttentionShape& s, const T* q, const T* p, const T* out_gradient, T* scratch, T* gradient) {
  const std::int64_t size = s.width / s.heads;
  const std::int64_t stride = 3 * s.width;
  const T scale = T{1} / std::sqrt(static_cast<T>(size));
  // The last block first: it reaches all keys, and so sets the gradients to which the others add.
  const std::int64_t blocks = (s.length + AttentionShape::block - 1) / AttentionShape::block;
  for (std::int64_t b = blocks - 1; b >= 0; --b) {
    const std::int64_t first = b * AttentionShape::block;
    const std::int64_t rows = std::min(AttentionShape::block, s.length - first);
    const std::int64_t keys = first + rows;
    const T beta = b == blocks - 1 ? T{0} : T{1};
    const T* const block = p + first * s.length;
    const T* const above = out_gradient + first * s.width;
    gemm(
        Product<T>{rows, keys, size, {above, s.width}, {q + 2 * s.width, stride, Transpose::yes}, {scratch, s.length}});
    gemm(Product<T>{keys,
                    size,
                    rows,
                    {block, s.length, Transpose::yes},
                    {above, s.width},
                    {gradient + 2 * s.width, stride},
                    1,
                    beta});
    block_softmax_backward(block, scratch, rows, keys, s.length);
    gemm(Product<T>{
        rows, size, keys, {scratch, s.length}, {q + s.width, stride}, {gradient + first * stride, stride}, scale, 0});
    gemm(Product<T>{keys,
                    size,
                    rows,
                    {scratch, s.length, Transpose::yes},
                    {q + first * stride, stride},
                    {gradient + s.width, stride},
                    scale,
                    beta});
  }
}

}  // namespace

template <class T>
void attention(const AttentionShape& s, std::span<const T> qkv, std::span<T> probabilities, std::span<T> out) {
  for (std::int64_t sample = 0; sample < s.samples; ++sample) {
    for (std::int64_t head = 0; head < s.heads; ++head) {
      head_forward(s, qkv.data() + head_offset(s, sample, head, 3 * s.width),
                   probabilities.data() + (sample * s.heads + head) * s.length * s.length,
                   out.data() + head_offset(s, sample, head, s.width));
    }
  }
}

template <class T>
void attention_backward(const AttentionShape& s, std::span<const T> qkv, std::span<const T> probabilities,
                        std::span<const T> out_gradient, std::span<T> scratch, std::span<T> qkv_gradient) {
  for (std::int64_t sample = 0; sample < s.samples; ++sample) {
    for (std::int64_t head = 0; head < s.heads; ++head) {
      const std::int64_t at = head_offset(s, sample, head, 3 * s.width);
      head_backward(s, qkv.data() + at, probabilities.data() + (sample * s.heads + head) * s.length * s.length,
                    out_gradient.data() + head_offset(s, sample, head, s.width), scratch.data(),
                    qkv_gradient.data() + at);
    }
  }
}

template void attention(const AttentionShape&, std::span<const float>, std::span<float>, std::span<float>);
template void attention(const AttentionShape&, std::span<const double>, std::span<double>, std::span<double>);
template void attention_backward(const AttentionShape&, std::span<const float>, std::span<const float>,
                                 std::span<const float>, std::span<float>, std::span<float>);
template void attention_backward(const AttentionShape&, std::span<const double>, std::span<const double>,
                                 std::span<const double>, std::span<double>, std::span<double>);

}  // namespace ringmaster::tensor
