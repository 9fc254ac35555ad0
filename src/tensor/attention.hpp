// SPDX-License-Identifier: Apache-2.0
// Causal multi-head attention over packed queries, keys and values: qkv is (B, T, 3 C), heads lie side by side in C.
// Products read and write heads in place; blocks of queries skip the keys that lie after them. Probabilities are kept
// for backward: (B, heads, T, T), of which the part above the diagonal is undefined beyond a block.
#pragma once

#include <cstdint>
#include <span>

namespace ringmaster::tensor {

struct AttentionShape {
  std::int64_t samples = 0;
  std::int64_t length = 0;
  std::int64_t width = 0;
  std::int64_t heads = 0;

  static constexpr std::int64_t block = 64;  // queries at once
  std::int64_t probabilities() const { return samples * heads * length * length; }
  /// Elements that backward needs for itself.
  std::int64_t scratch() const { return block * length; }
};

template <class T>
void attention(const AttentionShape& shape, std::span<const T> qkv, std::span<T> probabilities, std::span<T> out);
/// qkv_gradient = ... (overwritten)
template <class T>
void attention_backward(const AttentionShape& shape, std::span<const T> qkv, std::span<const T> probabilities,
                        std::span<const T> out_gradient, std::span<T> scratch, std::span<T> qkv_gradient);

}  // namespace ringmaster::tensor
