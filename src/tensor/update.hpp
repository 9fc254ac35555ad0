// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the optimizers on flat ranges: one pass over memory, element by element, so that how parameters are
// cut into ranges changes no bit. Compiled without fused multiply-adds.
#pragma once

#include <span>

namespace ringmaster::tensor {

/// AdamW (Loshchilov and Hutter 2019, algorithm 2). `rate` is the learning rate; corrections are 1 / (1 - beta^step).
struct AdamwStep {
  float gradient_scale = 1;
  float rate = 0;
  float beta1 = 0;
  float beta2 = 0;
  float epsilon = 0;
  float decay = 0;
  float correction1 = 1;
  float correction2 = 1;
};
void adamw_update(const AdamwStep& step, std::span<float> parameters, std::span<const float> gradients,
                  std::span<float> first, std::span<float> second);

/// v = momentum v + gradient; parameter -= rate (v + decay parameter).
struct SgdStep {
  float gradient_scale = 1;
  float rate = 0;
  float momentum = 0;
  float decay = 0;
};
void sgd_update(const SgdStep& step, std::span<float> parameters, std::span<const float> gradients,
                std::span<float> velocity);

}  // namespace ringmaster::tensor
