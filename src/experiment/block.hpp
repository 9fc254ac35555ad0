// SPDX-License-Identifier: Apache-2.0
// From what each rank recorded in a block to the block's record: events go to the common clock, accounts are made of
// all ranks together, and everything is reduced to one result::Block.
#pragma once

#include <cstdint>
#include <vector>

#include "base/recorder.hpp"
#include "experiment/trainer.hpp"
#include "measure/clocks.hpp"
#include "transport/process_group.hpp"

namespace ringmaster::experiment {

/// One rank's block on its own clock. Empty on a rank that took no part.
struct RankBlock {
  std::int32_t first_step = 0;
  std::vector<Event> main;
  std::vector<Event> engine;
  std::vector<double> losses;
  std::int64_t involuntary_switches = 0;
};

/// Collective over `world`; the first `ranks` ranks took part. Complete on every rank.
BlockSamples gather_block(transport::ProcessGroup& world, int ranks, RankBlock mine,
                          const measure::ClockAlignment& clock);

}  // namespace ringmaster::experiment
