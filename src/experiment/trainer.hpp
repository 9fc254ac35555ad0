// SPDX-License-Identifier: Apache-2.0
// One point of a sweep on one rank: its own model, data order, optimizer and recorders, kept while other points have
// their turn. Runs blocks of steps and turns what was recorded into a result::Block on rank 0.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "experiment/budget.hpp"
#include "experiment/config.hpp"
#include "measure/clocks.hpp"
#include "result/schema.hpp"

namespace ringmaster::experiment {

/// What the ranks of a point measured in one block, gathered on every rank of the world.
struct BlockSamples {
  result::Block block;                    // complete but for point, round, attempt
  std::vector<result::TraceEvent> trace;  // both lanes of every rank
  bool finite = true;                     // no loss was NaN or infinite
};

class PointTrainer {
 public:
  /// Collective over `world`. Ranks beyond the point's rank count take no part in its steps.
  PointTrainer(transport::ProcessGroup& world, const PlannedPoint& planned, const ThreadBudget& budget);
  ~PointTrainer();
  PointTrainer(const PointTrainer&) = delete;
  PointTrainer& operator=(const PointTrainer&) = delete;

  /// Collective over the world. What the point is: sizes, counts, what really runs.
  void describe(result::Point& point) const;
  /// Collective over the world. `steps` optimizer steps, measured.
  BlockSamples run_block(int steps, const measure::ClockAlignment& clock);
  /// Collective over the world. The same steps without measuring: a resumed point catching up.
  void catch_up(int steps);
  /// Collective over the world. The first bucket whose last result differs between ranks (XXH3); -1: none.
  int differing_bucket();
  /// Collective over the world. Held-out loss, parameter hash over ranks.
  result::PointEnd finish(std::int64_t held_out_samples);

  std::int64_t steps_done() const { return steps_done_; }
  const data::Dataset* dataset() const;

  /// This rank's state, and back. Empty for a rank that takes no part.
  parallel::Checkpoint save() const;
  void restore(const parallel::Checkpoint& checkpoint);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  std::int64_t steps_done_ = 0;
};

}  // namespace ringmaster::experiment
