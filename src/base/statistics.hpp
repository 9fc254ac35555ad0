// SPDX-License-Identifier: Apache-2.0
// The statistics behind every verdict: medians with intervals, paired ratios by bootstrap over rounds,
// Mann-Whitney's U for unpaired samples, Holm's correction over a table. Seeds are fixed: the same samples
// always give the same interval.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ringmaster {

struct Interval {
  double low = 0;
  double high = 0;
};

/// A median with its 95 % bootstrap interval.
struct Estimate {
  double value = 0;
  Interval interval;
};

double median(std::span<const double> values);  // NaN for none
double mean(std::span<const double> values);
/// Median absolute deviation (not scaled).
double median_deviation(std::span<const double> values);
/// Nearest-rank percentile, q in [0, 100]. NaN unless ten samples lie beyond it (q = 50 always answers).
double percentile(std::span<const double> values, double q);

/// Median with a percentile bootstrap interval (2,000 resamples).
Estimate estimate_median(std::span<const double> values, std::uint64_t seed = 1);

/// How much faster the candidate is than the baseline, from paired rounds: ratio = baseline / candidate
/// (over 1: candidate faster). The interval resamples rounds; `p_value` is Wilcoxon's signed rank test of the
/// logarithms, two-sided: a bootstrap's p cannot fall below 1 / resamples, which a table of a hundred verdicts needs.
struct Comparison {
  double ratio = 1;
  Interval interval{1, 1};
  double p_value = 1;
  int rounds = 0;
};
Comparison compare_paired(std::span<const double> baseline, std::span<const double> candidate, std::uint64_t seed = 1);

/// The same for unpaired samples: ratio of medians by bootstrap of both, p from Mann-Whitney's U (tie-corrected).
Comparison compare_unpaired(std::span<const double> baseline, std::span<const double> candidate,
                            std::uint64_t seed = 1);

/// Two-sided p value of Wilcoxon's signed rank test that differences are symmetric around 0; zeros are left out. Exact
/// up to 50 differences (midranks for ties), a normal approximation beyond.
double signed_rank_p(std::span<const double> differences);

/// Two-sided p value of Mann-Whitney's U test, normal approximation with tie correction.
double mann_whitney_p(std::span<const double> a, std::span<const double> b);

/// Holm-adjusted p values, in the order given.
std::vector<double> holm(std::span<const double> p_values);

/// "1.31x faster [1.24, 1.38]", "1.10x slower [1.04, 1.17]" or "no difference [0.97, 1.02]".
/// `adjusted_p` is Holm's; a difference is claimed only if it is below 0.05 and the interval excludes 1.
std::string verdict(const Comparison& comparison, double adjusted_p);

}  // namespace ringmaster
