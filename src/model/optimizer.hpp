// SPDX-License-Identifier: Apache-2.0
// Optimizers over flat ranges of parameters. State is flat too, so that it can be saved, sharded and compared.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ringmaster::model {

enum class OptimizerKind : std::uint8_t { sgd, adamw };

struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adamw;
  double learning_rate = 1e-3;
  double momentum = 0.9;  // sgd
  double beta1 = 0.9;     // adamw (Loshchilov and Hutter 2019, algorithm 2)
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.01;  // decoupled, for parameters that decay
};

class Optimizer {
 public:
  Optimizer(const OptimizerOptions& options, std::int64_t elements);

  /// Call once before the updates of a step (1, 2, ...): bias correction.
  void begin_step() { ++step_; }
  /// Updates parameters[i] at flat positions [offset, offset + size). Gradients are multiplied by gradient_scale
  /// first (1 / ranks, clipping). `decays` says whether weight decay applies to this range.
  void update(std::int64_t offset, std::span<float> parameters, std::span<const float> gradients, double gradient_scale,
              bool decays);

  std::int64_t step() const { return step_; }
  const OptimizerOptions& options() const { return options_; }
  /// Flat state for checkpoints: all of it, in a fixed order.
  std::span<float> state() { return state_; }
  void restore_step(std::int64_t step) { step_ = step; }

 private:
  OptimizerOptions options_;
  std::vector<float> state_;
  std::int64_t elements_;
  std::int64_t step_ = 0;
};

/// Sum of squares in double precision, in a fixed order.
double sum_of_squares(std::span<const float> values);

}  // namespace ringmaster::model
