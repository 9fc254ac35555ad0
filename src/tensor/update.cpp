// SPDX-License-Identifier: Apache-2.0
#include "tensor/update.hpp"

#include <cmath>

#include "base/error.hpp"
#include "tensor/simd.hpp"

namespace ringmaster::tensor {
namespace {

RINGMASTER_CLONES void adamw(AdamwStep s, std::size_t n, float* __restrict p, const float* __restrict g,
                             float* __restrict m, float* __restrict v) {
  const float rest1 = 1.0F - s.beta1;
  const float rest2 = 1.0F - s.beta2;
  for (std::size_t i = 0; i < n; ++i) {
    const float gradient = g[i] * s.gradient_scale;
    m[i] = s.beta1 * m[i] + rest1 * gradient;
    v[i] = s.beta2 * v[i] + rest2 * gradient * gradient;
    const float change = m[i] * s.correction1 / (std::sqrt(v[i] * s.correction2) + s.epsilon);
    p[i] -= s.rate * (change + s.decay * p[i]);
  }
}

RINGMASTER_CLONES void sgd(SgdStep s, std::size_t n, float* __restrict p, const float* __restrict g,
                           float* __restrict v) {
  for (std::size_t i = 0; i < n; ++i) {
    v[i] = s.momentum * v[i] + g[i] * s.gradient_scale;
    p[i] -= s.rate * (v[i] + s.decay * p[i]);
  }
}

}  // namespace

void adamw_update(const AdamwStep& step, std::span<float> parameters, std::span<const float> gradients,
                  std::span<float> first, std::span<float> second) {
  const std::size_t n = parameters.size();
  RINGMASTER_ASSERT(gradients.size() == n && first.size() == n && second.size() == n, "ranges of unequal size");
  adamw(step, n, parameters.data(), gradients.data(), first.data(), second.data());
}

void sgd_update(const SgdStep& step, std::span<float> parameters, std::span<const float> gradients,
                std::span<float> velocity) {
  const std::size_t n = parameters.size();
  RINGMASTER_ASSERT(gradients.size() == n && velocity.size() == n, "ranges of unequal size");
  sgd(step, n, parameters.data(), gradients.data(), velocity.data());
}

}  // namespace ringmaster::tensor
