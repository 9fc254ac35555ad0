// SPDX-License-Identifier: Apache-2.0
// `compare A B`: two stored runs, point by point (bench: size by size). Same config and machine: rounds are paired
// (the same order of points, the same seed); else the interval is of the ratio of medians and p is Mann-Whitney's.
#pragma once

#include <string>
#include <vector>

#include "base/statistics.hpp"
#include "result/schema.hpp"

namespace ringmaster::report {

enum class Pairing { paired, unpaired };

struct ComparedPoint {
  std::string name;     // of the point; bench: "ring 64K out of place"
  double before_s = 0;  // medians
  double after_s = 0;
  Comparison comparison;  // ratio over 1: B is faster than A
  double adjusted_p = 1;  // Holm's, over all points
  std::string verdict;    // of B against A
  /// How much slower B is: 0.05 is 5 %; negative when it is faster.
  double slowdown() const { return comparison.ratio > 0 ? 1 / comparison.ratio - 1 : 0; }
  bool significant() const { return verdict.rfind("no difference", 0) != 0; }
};

struct RunComparison {
  Pairing pairing = Pairing::unpaired;
  std::string why;  // why rounds were paired or not, in words
  std::vector<ComparedPoint> points;
  std::vector<std::string> only_before;
  std::vector<std::string> only_after;
  std::vector<std::string> warnings;  // other machine, other ranks, stamps
};

/// UserError where nothing can be compared: another kind, no common point.
RunComparison compare(const result::Run& before, const result::Run& after);

/// Points that are slower by more than `threshold` (0.05: 5 %), shown by their interval, not by chance.
std::vector<const ComparedPoint*> regressions(const RunComparison& comparison, double threshold);

/// A table and the warnings, for a terminal.
std::string describe(const RunComparison& comparison, int width = 100);

}  // namespace ringmaster::report
