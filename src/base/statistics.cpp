// SPDX-License-Identifier: Apache-2.0
#include "base/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"

namespace ringmaster {
namespace {

constexpr int resamples = 2000;
constexpr double confidence_tail = 2.5;  // percent on either side
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Median of `values`, which it reorders.
double median_in_place(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

/// Linear interpolation between order statistics (Hyndman and Fan 1996, type 7) of sorted values.
double quantile(const std::vector<double>& sorted, double percent) {
  const double position = percent / 100.0 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = position - static_cast<double>(below);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

Interval percentile_interval(std::vector<double>& statistics) {
  std::sort(statistics.begin(), statistics.end());
  return {quantile(statistics, confidence_tail), quantile(statistics, 100 - confidence_tail)};
}

void resample(std::span<const double> values, Random& random, std::vector<double>& out) {
  out.resize(values.size());
  for (double& value : out) value = values[random.below(values.size())];
}

/// Midranks of the pooled samples; adds t^3 - t of every tie group to `ties`.
std::vector<double> midranks(const std::vector<double>& pooled, double& ties) {
  std::vector<std::size_t> order(pooled.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return pooled[i] < pooled[j]; });
  std::vector<double> ranks(pooled.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first + 1;
    while (last < order.size() && pooled[order[last]] == pooled[order[first]]) ++last;
    const double rank = 0.5 * static_cast<double>(first + 1 + last);
    for (std::size_t i = first; i < last; ++i) ranks[order[i]] = rank;
    const auto t = static_cast<double>(last - first);
    ties += t * t * t - t;
    first = last;
  }
  return ranks;
}

/// Two-sided p that signs are random, exact: of all 2^n ways to sign the ranks, the share whose sum of positive ranks
/// lies as far from its middle as `positive`. Ranks are doubled, so that midranks are whole.
double exact_signed_rank_p(const std::vector<int>& doubled, int positive) {
  const int total = std::accumulate(doubled.begin(), doubled.end(), 0);
  std::vector<double> ways(static_cast<std::size_t>(total) + 1, 0.0);
  ways[0] = 1;
  for (const int rank : doubled) {
    for (int sum = total; sum >= rank; --sum) {
      ways[static_cast<std::size_t>(sum)] += ways[static_cast<std::size_t>(sum - rank)];
    }
  }
  const int distance = std::abs(2 * positive - total);
  double extreme = 0;
  for (int sum = 0; sum <= total; ++sum) {
    if (std::abs(2 * sum - total) >= distance) extreme += ways[static_cast<std::size_t>(sum)];
  }
  return std::min(1.0, extreme / std::exp2(static_cast<double>(doubled.size())));
}

}  // namespace

double median(std::span<const double> values) {
  if (values.empty()) return nan;
  std::vector<double> copy(values.begin(), values.end());
  return median_in_place(copy);
}

double mean(std::span<const double> values) {
  if (values.empty()) return nan;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median_deviation(std::span<const double> values) {
  const double center = median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::fabs(value - center));
  return median(deviations);
}

double percentile(std::span<const double> values, double q) {
  if (q == 50) return median(values);
  const auto n = static_cast<double>(values.size());
  const double beyond = std::min(q, 100 - q) / 100.0 * n;
  if (beyond < 10 - 1e-9) return nan;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto rank = static_cast<std::size_t>(std::max(1.0, std::ceil(q / 100.0 * n - 1e-9)));
  return sorted[std::min(rank, sorted.size()) - 1];
}

Estimate estimate_median(std::span<const double> values, std::uint64_t seed) {
  const double center = median(values);
  if (values.size() < 2) return {center, {center, center}};
  Random random(seed);
  std::vector<double> statistics;
  std::vector<double> sample;
  statistics.reserve(resamples);
  for (int i = 0; i < resamples; ++i) {
    resample(values, random, sample);
    statistics.push_back(median_in_place(sample));
  }
  return {center, percentile_interval(statistics)};
}

Comparison compare_paired(std::span<const double> baseline, std::span<const double> candidate, std::uint64_t seed) {
  RINGMASTER_ASSERT(baseline.size() == candidate.size(), "paired samples must have the same rounds");
  // Logarithms, so that the median ratio of A to B is the inverse of that of B to A.
  std::vector<double> logs;
  for (std::size_t i = 0; i < baseline.size(); ++i) {
    if (baseline[i] > 0 && candidate[i] > 0) logs.push_back(std::log(baseline[i] / candidate[i]));
  }
  Comparison comparison;
  comparison.rounds = static_cast<int>(logs.size());
  if (logs.empty()) return comparison;
  comparison.ratio = std::exp(median(logs));
  comparison.interval = {comparison.ratio, comparison.ratio};
  if (logs.size() < 2) return comparison;
  Random random(seed);
  std::vector<double> statistics;
  std::vector<double> sample;
  statistics.reserve(resamples);
  for (int i = 0; i < resamples; ++i) {
    resample(logs, random, sample);
    statistics.push_back(median_in_place(sample));
  }
  const Interval interval = percentile_interval(statistics);
  comparison.interval = {std::exp(interval.low), std::exp(interval.high)};
  comparison.p_value = signed_rank_p(logs);
  return comparison;
}

Comparison compare_unpaired(std::span<const double> baseline, std::span<const double> candidate, std::uint64_t seed) {
  Comparison comparison;
  comparison.rounds = static_cast<int>(std::min(baseline.size(), candidate.size()));
  if (baseline.empty() || candidate.empty()) return comparison;
  comparison.ratio = median(baseline) / median(candidate);
  comparison.interval = {comparison.ratio, comparison.ratio};
  comparison.p_value = mann_whitney_p(baseline, candidate);
  Random random(seed);
  std::vector<double> ratios;
  std::vector<double> a;
  std::vector<double> b;
  ratios.reserve(resamples);
  for (int i = 0; i < resamples; ++i) {
    resample(baseline, random, a);
    resample(candidate, random, b);
    ratios.push_back(median_in_place(a) / median_in_place(b));
  }
  comparison.interval = percentile_interval(ratios);
  return comparison;
}

double signed_rank_p(std::span<const double> differences) {
  std::vector<double> sizes;
  std::vector<bool> is_positive;
  for (const double difference : differences) {
    if (difference == 0) continue;
    sizes.push_back(std::fabs(difference));
    is_positive.push_back(difference > 0);
  }
  if (sizes.empty()) return 1;
  double ties = 0;
  const std::vector<double> ranks = midranks(sizes, ties);
  double positive = 0;
  double squares = 0;
  std::vector<int> doubled;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    positive += is_positive[i] ? ranks[i] : 0;
    squares += ranks[i] * ranks[i];
    doubled.push_back(static_cast<int>(std::lround(2 * ranks[i])));
  }
  constexpr std::size_t most_exact = 50;
  if (ranks.size() <= most_exact) return exact_signed_rank_p(doubled, static_cast<int>(std::lround(2 * positive)));
  const auto n = static_cast<double>(ranks.size());
  const double distance = std::max(0.0, std::fabs(positive - n * (n + 1) / 4) - 0.5);
  return std::min(1.0, std::erfc(distance / std::sqrt(squares / 2)));
}

double mann_whitney_p(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return 1;
  std::vector<double> pooled(a.begin(), a.end());
  pooled.insert(pooled.end(), b.begin(), b.end());
  double ties = 0;
  const std::vector<double> ranks = midranks(pooled, ties);
  const auto n = static_cast<double>(a.size());
  const auto m = static_cast<double>(b.size());
  const double rank_sum = std::accumulate(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(a.size()), 0.0);
  const double u = rank_sum - n * (n + 1) / 2;
  const double total = n + m;
  const double variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)));
  if (variance <= 0) return 1;
  // Continuity correction of one half towards the mean.
  const double distance = std::max(0.0, std::fabs(u - n * m / 2) - 0.5);
  return std::min(1.0, std::erfc(distance / std::sqrt(2 * variance)));
}

std::vector<double> holm(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return p_values[i] < p_values[j]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto remaining = static_cast<double>(order.size() - i);
    largest = std::max(largest, std::min(1.0, remaining * p_values[order[i]]));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

std::string verdict(const Comparison& comparison, double adjusted_p) {
  const Interval& interval = comparison.interval;
  const bool excludes_one = interval.low > 1 || interval.high < 1;
  if (!(adjusted_p < 0.05) || !excludes_one) {
    return fmt::format("no difference [{:.2f}, {:.2f}]", interval.low, interval.high);
  }
  if (comparison.ratio >= 1) {
    return fmt::format("{:.2f}x faster [{:.2f}, {:.2f}]", comparison.ratio, interval.low, interval.high);
  }
  return fmt::format("{:.2f}x slower [{:.2f}, {:.2f}]", 1 / comparison.ratio, 1 / interval.high, 1 / interval.low);
}

}  // namespace ringmaster
