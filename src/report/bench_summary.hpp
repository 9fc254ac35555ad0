// SPDX-License-Identifier: Apache-2.0
// What a bench run says of each variant and size: medians, bandwidths as nccl-tests defines them, and the verdict
// against the library at the same size, paired within rounds and corrected over the whole table (Holm). Internal to
// `report`.
#pragma once

#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "result/schema.hpp"

namespace ringmaster::report {

struct BenchSide {
  double time_us = 0;  // median of the samples; NaN: not measured
  double algbw_gb_per_s = 0;
  double busbw_gb_per_s = 0;
  double transfer_us = 0;  // medians of the single calls; NaN where the clocks are too coarse
  double skew_us = 0;
  Comparison against_library;
  std::string verdict;  // "-" for the library itself and where there is none
};

struct BenchSummary {
  const result::BenchRow* row = nullptr;
  BenchSide out_of_place;
  BenchSide in_place;
};

/// Medians and bandwidths of one side of a row; nothing is compared.
BenchSide summarize_side(const result::BenchRow::Side& side, std::int64_t bytes, int ranks);

/// One a measured row, in the order of the rows.
std::vector<BenchSummary> summarize_bench(const result::Run& run);

}  // namespace ringmaster::report
