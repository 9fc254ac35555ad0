// SPDX-License-Identifier: Apache-2.0
// The best of ringmaster's variants against the best of the library's rows, size by size, and as a share of the copy
// bound. The best is chosen by its median in every second round and compared in the rounds between: samples that chose
// a winner never confirm it. Internal to `report`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "result/schema.hpp"

namespace ringmaster::report {

enum class BenchPlacement : std::uint8_t { out_of_place, in_place };
constexpr const char* name_of(BenchPlacement placement) {
  return placement == BenchPlacement::out_of_place ? "out-of-place" : "in-place";
}

struct BestRow {
  std::int64_t bytes = 0;
  BenchPlacement placement = BenchPlacement::out_of_place;
  std::string own;         // variants
  std::string library;     // empty: none was measured
  double own_us = 0;       // medians of the rounds that confirm
  double library_us = 0;   // NaN: none
  Comparison comparison;   // library / own
  double bound_share = 0;  // time of the better copy / own time; NaN: no copy was measured
};

/// Every size with at least one of ringmaster's variants and two rounds; sizes in the order of the rows, out of place
/// first.
std::vector<BestRow> best_rows(const result::Run& run);

/// Geometric mean of the ratios of one placement; NaN where there is none.
double mean_ratio(const std::vector<BestRow>& rows, BenchPlacement placement);

}  // namespace ringmaster::report
