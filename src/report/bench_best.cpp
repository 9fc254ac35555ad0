// SPDX-License-Identifier: Apache-2.0
#include "report/bench_best.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace ringmaster::report {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

const std::vector<double>& samples_of(const result::BenchRow& row, BenchPlacement placement) {
  return (placement == BenchPlacement::in_place ? row.in_place : row.out_of_place).samples_us;
}

/// Every second sample, from the first or from the second one on.
std::vector<double> every_second(const std::vector<double>& samples, std::size_t first) {
  std::vector<double> half;
  for (std::size_t i = first; i < samples.size(); i += 2) half.push_back(samples[i]);
  return half;
}
constexpr std::size_t chooses = 0;
constexpr std::size_t confirms = 1;

/// Rows of one size and placement, and the best of a role.
class Contest {
 public:
  Contest(const result::Run& run, std::int64_t bytes, BenchPlacement placement)
      : run_(run), bytes_(bytes), placement_(placement) {}

  const result::BenchRow* best(const std::set<std::string>& roles) const {
    const result::BenchRow* best = nullptr;
    double least = std::numeric_limits<double>::infinity();
    for (const result::BenchRow& row : run_.rows) {
      if (row.bytes != bytes_ || roles.count(row.role) == 0 || samples_of(row, placement_).size() < 2) continue;
      const double time = median(every_second(samples_of(row, placement_), chooses));
      if (time < least) {
        least = time;
        best = &row;
      }
    }
    return best;
  }
  std::vector<double> confirming(const result::BenchRow& row) const {
    return every_second(samples_of(row, placement_), confirms);
  }

 private:
  const result::Run& run_;
  std::int64_t bytes_;
  BenchPlacement placement_;
};

std::vector<std::int64_t> sizes_of(const result::Run& run) {
  std::vector<std::int64_t> sizes;
  for (const result::BenchRow& row : run.rows) {
    if (row.skipped.empty() && std::find(sizes.begin(), sizes.end(), row.bytes) == sizes.end()) {
      sizes.push_back(row.bytes);
    }
  }
  return sizes;
}

}  // namespace

std::vector<BestRow> best_rows(const result::Run& run) {
  std::vector<BestRow> rows;
  for (const std::int64_t bytes : sizes_of(run)) {
    for (const BenchPlacement placement : {BenchPlacement::out_of_place, BenchPlacement::in_place}) {
      const Contest contest(run, bytes, placement);
      const result::BenchRow* own = contest.best({"variant"});
      if (own == nullptr) continue;
      const std::vector<double> own_us = contest.confirming(*own);
      BestRow row{bytes, placement, own->variant, {}, median(own_us), nothing, {}, nothing};
      if (const result::BenchRow* library = contest.best({"library", "baseline"})) {
        const std::vector<double> library_us = contest.confirming(*library);
        const std::size_t rounds = std::min(library_us.size(), own_us.size());
        row.library = library->variant;
        row.library_us = median(library_us);
        row.comparison = compare_paired(std::span(library_us).first(rounds), std::span(own_us).first(rounds));
      }
      if (const result::BenchRow* bound = contest.best({"bound"})) {
        row.bound_share = median(contest.confirming(*bound)) / row.own_us;
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

double mean_ratio(const std::vector<BestRow>& rows, BenchPlacement placement) {
  double sum = 0;
  int count = 0;
  for (const BestRow& row : rows) {
    if (row.placement != placement || row.comparison.rounds == 0) continue;
    sum += std::log(row.comparison.ratio);
    ++count;
  }
  return count == 0 ? nothing : std::exp(sum / count);
}

}  // namespace ringmaster::report
