// SPDX-License-Identifier: Apache-2.0
// From raw samples to what a reader wants to know: a row a point with interval, shares and verdict; and a ranked
// list of what limits the run. Pure functions of a Run.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "account/accounts.hpp"
#include "base/statistics.hpp"
#include "result/schema.hpp"

namespace ringmaster::report {

/// A row of the table of a training run.
struct PointSummary {
  const result::Point* point = nullptr;
  std::string label;  // "ring = rabenseifner = direct"
  int rounds = 0;
  Estimate step_s;                                     // median over rounds of the block's mean step
  std::array<double, account::account_count> share{};  // of the step; median over rounds of the mean over ranks
  double hidden_share = 0;                             // hidden / all communication
  double communication_s = 0;                          // a step
  double queueing_s = 0;                               // part of exposed transfer spent behind earlier buckets
  double algbw_gb_per_s = 0;                           // gradient bytes / communication time
  double busbw_gb_per_s = 0;
  double overhead_s = 0;      // step - twin
  double interference_s = 0;  // overhead - (skew + transfer + progress + encode)
  double flop_share = 0;      // of the gemm ceiling, forward + backward
  double final_loss = 0;
  double held_out_loss = 0;
  Comparison against_library;     // ratio over 1: faster than the library
  std::string verdict;            // "1.31x faster [1.24, 1.38]", "no difference [..]", "-" for the library
  double scaling_efficiency = 0;  // against one rank; 0: not measured
  bool in_two_goes = false;       // measured in several attempts
  std::string note;
};
std::vector<PointSummary> summarize(const result::Run& run);

/// Whether a row is shown: a point that shares another's row, or the recorder-off one, is not.
bool is_row(const PointSummary& summary);
/// The rows of a workload: baseline, variants, twin, one rank.
std::vector<const PointSummary*> rows_of(const std::vector<PointSummary>& summaries, const std::string& workload);
/// Workloads in the order of their points.
std::vector<std::string> workloads(const result::Run& run);

/// The fastest variant of a workload: chosen on one half of the rounds, confirmed on the other.
struct Winner {
  const result::Point* point = nullptr;  // null: nothing to choose from
  Comparison confirmed;                  // against the library, on the rounds that did not choose it
  bool faster = false;
  std::string sentence;
};
Winner winner(const std::vector<PointSummary>& summaries, const result::Run& run, const std::string& workload);

/// What recording costs: the baseline with the recorder on against off, paired. rounds = 0: not measured.
Comparison recording_cost(const result::Run& run);
/// Events recorded a rank and step, mean over the trace; 0 without one.
double events_per_step(const result::Run& run);

/// Why a run is no faster.
enum class Cause { data, slow_rank, no_spare_core, tiny_buckets, slow_link, communication, compute, small_batch };
const char* name_of(Cause cause);
struct Limit {
  Cause cause = Cause::compute;
  double seconds = 0;    // of a step: upper bound of what its cure can win
  double share = 0;      // the same as a share of the step
  std::string sentence;  // what and why, with figures
  std::string cure;      // what to change, as a config line where possible
};
/// Ranked, the strongest first; at least one where something was measured. What a step loses (data .. communication)
/// comes before what it is for (compute, small_batch). The point judged is the workload's library baseline, or its
/// first measured variant.
std::vector<Limit> limits(const result::Run& run, const std::string& workload);
/// The paragraph of the terminal: limits of every workload in words.
std::string limits_paragraph(const result::Run& run);

}  // namespace ringmaster::report
