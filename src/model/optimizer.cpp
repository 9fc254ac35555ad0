// SPDX-License-Identifier: Apache-2.0
#include "model/optimizer.hpp"

#include <cmath>

#include "base/error.hpp"
#include "tensor/operators.hpp"
#include "tensor/update.hpp"

namespace ringmaster::model {

// AdamW keeps all first moments, then all second ones; SGD its velocity.
Optimizer::Optimizer(const OptimizerOptions& options, std::int64_t elements)
    : options_(options),
      state_(static_cast<std::size_t>(elements) * (options.kind == OptimizerKind::adamw ? 2 : 1)),
      elements_(elements) {}

void Optimizer::update(std::int64_t offset, std::span<float> parameters, std::span<const float> gradients,
                       double gradient_scale, bool decays) {
  const std::size_t size = parameters.size();
  const auto at = static_cast<std::size_t>(offset);
  RINGMASTER_ASSERT(offset >= 0 && at + size <= static_cast<std::size_t>(elements_), "a range outside of the state");
  RINGMASTER_ASSERT(step_ > 0, "begin_step comes before update");
  const std::span<float> state(state_);
  const auto scale = static_cast<float>(gradient_scale);
  const auto rate = static_cast<float>(options_.learning_rate);
  const auto decay = static_cast<float>(decays ? options_.weight_decay : 0.0);
  if (options_.kind == OptimizerKind::sgd) {
    const tensor::SgdStep step{scale, rate, static_cast<float>(options_.momentum), decay};
    tensor::sgd_update(step, parameters, gradients, state.subspan(at, size));
    return;
  }
  tensor::AdamwStep step;
  step.gradient_scale = scale;
  step.rate = rate;
  step.beta1 = static_cast<float>(options_.beta1);
  step.beta2 = static_cast<float>(options_.beta2);
  step.epsilon = static_cast<float>(options_.epsilon);
  step.decay = decay;
  step.correction1 = static_cast<float>(1 / (1 - std::pow(options_.beta1, static_cast<double>(step_))));
  step.correction2 = static_cast<float>(1 / (1 - std::pow(options_.beta2, static_cast<double>(step_))));
  tensor::adamw_update(step, parameters, gradients, state.subspan(at, size),
                       state.subspan(static_cast<std::size_t>(elements_) + at, size));
}

double sum_of_squares(std::span<const float> values) { return tensor::squared_norm(values); }

}  // namespace ringmaster::model
