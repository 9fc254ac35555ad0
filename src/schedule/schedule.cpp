// SPDX-License-Identifier: Apache-2.0
#include "schedule/schedule.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace ringmaster::schedule {
namespace {

/// Cuts [0, count) after `part` of `whole` shares; the border is a multiple of `quantum`, or count.
std::int64_t border(std::int64_t count, std::int64_t part, std::int64_t whole, std::int64_t quantum) {
  const std::int64_t blocks = (count + quantum - 1) / quantum;
  // blocks * part may not overflow: both factors are far below 2^31 in any vector that fits in memory.
  return std::min(count, blocks * part / whole * quantum);
}

}  // namespace

std::int64_t Region::chunk_count() const {
  std::int64_t chunks = 0;
  for (const ChunkRange& range : ranges) chunks += range.count;
  return chunks;
}

std::vector<std::int64_t> Region::chunk_list() const {
  std::vector<std::int64_t> chunks;
  for (const ChunkRange& range : ranges) {
    for (std::int64_t i = 0; i < range.count; ++i) chunks.push_back(range.first + i);
  }
  return chunks;
}

const char* name_of(Collective collective) {
  switch (collective) {
    case Collective::allreduce: return "allreduce";
    case Collective::reduce_scatter: return "reduce-scatter";
    case Collective::all_gather: return "all-gather";
    case Collective::reduce: return "reduce";
    case Collective::broadcast: return "broadcast";
  }
  return "?";
}

ElementRange chunk_elements(std::int64_t count, std::int64_t chunks, std::int64_t index, std::int64_t quantum) {
  RINGMASTER_ASSERT(count >= 0 && chunks >= 1 && index >= 0 && index < chunks && quantum >= 1,
                    "a chunk outside of its vector");
  return {border(count, index, chunks, quantum), border(count, index + 1, chunks, quantum)};
}

ElementRange lane_elements(const Schedule& schedule, std::size_t lane, std::int64_t count, std::int64_t quantum) {
  std::int64_t before = 0;
  std::int64_t whole = 0;
  for (std::size_t i = 0; i < schedule.lanes.size(); ++i) {
    if (i < lane) before += schedule.lanes[i].weight;
    whole += schedule.lanes[i].weight;
  }
  return {border(count, before, whole, quantum), border(count, before + schedule.lanes[lane].weight, whole, quantum)};
}

}  // namespace ringmaster::schedule
