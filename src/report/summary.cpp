// SPDX-License-Identifier: Apache-2.0
#include "report/summary.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "report/samples.hpp"

namespace ringmaster::report {
namespace {

using account::Account;

bool compared(const result::Point& point) { return point.role == "variant" || point.role == "baseline"; }

/// The variant, or the point's whole name where several points of the workload have that variant.
std::string short_label(const result::Run& run, const result::Point& point) {
  int same = 0;
  for (const result::Point& other : run.points) {
    if (other.workload == point.workload && other.variant == point.variant && other.role == point.role) ++same;
  }
  if (same <= 1 && !point.variant.empty()) return point.variant;
  const std::string prefix = point.workload + "/";
  return point.name.rfind(prefix, 0) == 0 ? point.name.substr(prefix.size()) : point.name;
}

std::string label_of(const result::Run& run, const result::Point& point) {
  std::string label = short_label(run, point);
  for (const std::string& same : point.same_as) label += " = " + same;
  return label;
}

Comparison compare(const Rounds& baseline, const Rounds& candidate) {
  const auto [a, b] = paired_steps(baseline, candidate);
  return compare_paired(a, b);
}

// Medians over rounds, so that one disturbed block does not colour the picture, scaled to the whole step again.
void fill_shares(const Rounds& rounds, PointSummary& summary) {
  double whole = 0;
  for (std::size_t a = 0; a < summary.share.size(); ++a) {
    summary.share[a] = median(values(rounds, [a](const result::Block& block) {
      const double step = step_s(block);
      return step > 0 ? account_s(block, static_cast<Account>(a)) / step : 0.0;
    }));
    whole += summary.share[a];
  }
  for (double& share : summary.share) share = whole > 0 ? share / whole : 0;
  summary.hidden_share = median(values(rounds, [](const result::Block& block) {
    const double communication = mean_us_s(block.communication_us);
    return communication > 0 ? mean_us_s(block.hidden_us) / communication : 0.0;
  }));
}

void fill_bandwidths(const Rounds& rounds, PointSummary& summary) {
  const result::Point& point = *summary.point;
  summary.queueing_s = median(values(rounds, [](const result::Block& b) { return mean_us_s(b.queueing_us); }));
  summary.communication_s =
      median(values(rounds, [](const result::Block& b) { return mean_us_s(b.communication_us); }));
  if (point.ranks < 2 || point.role == "twin" || !(summary.communication_s > 0)) return;
  summary.algbw_gb_per_s = static_cast<double>(point.gradient_bytes) * 1e-9 / summary.communication_s;
  summary.busbw_gb_per_s = allreduce_busbw(summary.algbw_gb_per_s, point.ranks);
}

void fill_compute(const result::Run& run, PointSummary& summary) {
  const auto share = [&](Account a) { return summary.share[static_cast<std::size_t>(a)]; };
  const double compute_s = (share(Account::forward) + share(Account::backward)) * summary.step_s.value;
  const double ceiling = run.ceilings.gemm_gflop_per_s * 1e9;
  if (compute_s > 0 && ceiling > 0) summary.flop_share = summary.point->flops_per_step / compute_s / ceiling;
}

void fill_twin(const Samples& samples, PointSummary& summary) {
  const result::Point& point = *summary.point;
  const result::Point* twin = compared(point) ? samples.partner(point, "twin") : nullptr;
  if (twin == nullptr) return;
  const auto [with, without] = paired_steps(samples.of(point), samples.of(*twin));
  if (with.empty()) return;
  std::vector<double> differences;
  for (std::size_t i = 0; i < with.size(); ++i) differences.push_back(with[i] - without[i]);
  summary.overhead_s = median(differences);
  double exposed = 0;
  for (const Account a : {Account::exposed_skew, Account::exposed_transfer, Account::progress, Account::encode}) {
    exposed += summary.share[static_cast<std::size_t>(a)] * summary.step_s.value;
  }
  summary.interference_s = summary.overhead_s - exposed;
}

// Samples a second of all ranks against so many times what one rank does alone.
void fill_scaling(const Samples& samples, PointSummary& summary) {
  const result::Point& point = *summary.point;
  const result::Point* single = compared(point) ? samples.partner(point, "single") : nullptr;
  if (single == nullptr || single->samples_per_step <= 0 || point.ranks < 1) return;
  const auto [alone, together] = paired_steps(samples.of(*single), samples.of(point));
  std::vector<double> ratios;
  for (std::size_t i = 0; i < alone.size(); ++i) ratios.push_back(alone[i] / together[i]);
  if (ratios.empty()) return;
  const double work = static_cast<double>(point.samples_per_step) / static_cast<double>(single->samples_per_step);
  summary.scaling_efficiency = median(ratios) * work / point.ranks;
}

void fill_losses(const result::Run& run, PointSummary& summary) {
  for (const result::PointEnd& end : run.ends) {
    if (end.point != summary.point->id) continue;
    summary.final_loss = end.final_loss;
    summary.held_out_loss = end.held_out_loss;
    if (!end.parameters_equal) summary.note = "PARAMETERS DIFFER BETWEEN RANKS";
  }
}

void add_note(PointSummary& summary, const std::string& text) {
  summary.note += (summary.note.empty() ? "" : "; ") + text;
}

PointSummary summarize_point(const result::Run& run, const Samples& samples, const result::Point& point) {
  PointSummary summary;
  summary.point = &point;
  summary.label = label_of(run, point);
  const Rounds& rounds = samples.of(point);
  summary.rounds = static_cast<int>(rounds.size());
  if (!point.skipped.empty()) summary.note = point.skipped;
  if (samples.diverged(point)) add_note(summary, "the loss is not finite");
  if (rounds.empty()) return summary;
  summary.step_s = estimate_median(values(rounds, step_s));
  summary.in_two_goes = samples.in_two_goes(point);
  if (summary.in_two_goes) add_note(summary, "measured in two goes");
  if (point.role != "unrecorded") {
    fill_shares(rounds, summary);
    fill_bandwidths(rounds, summary);
    fill_compute(run, summary);
    fill_twin(samples, summary);
    fill_scaling(samples, summary);
  }
  fill_losses(run, summary);
  return summary;
}

/// Every variant against its library in paired rounds; Holm's correction over the whole run.
void judge(const Samples& samples, std::vector<PointSummary>& summaries) {
  std::vector<PointSummary*> judged;
  std::vector<double> p_values;
  for (PointSummary& summary : summaries) {
    const result::Point& point = *summary.point;
    if (summary.rounds == 0 || !compared(point)) continue;
    summary.verdict = "-";
    const result::Point* library = samples.partner(point, "baseline");
    if (library == nullptr || point.role == "baseline" || samples.diverged(point) || samples.diverged(*library))
      continue;
    summary.against_library = compare(samples.of(*library), samples.of(point));
    if (summary.against_library.rounds == 0) continue;
    judged.push_back(&summary);
    p_values.push_back(summary.against_library.p_value);
  }
  const std::vector<double> adjusted = holm(p_values);
  for (std::size_t i = 0; i < judged.size(); ++i) judged[i]->verdict = verdict(judged[i]->against_library, adjusted[i]);
}

/// Rounds with an even number choose, the others confirm. By number, not by place: two points that lack different
/// rounds must not share one between choosing and confirming.
enum class Half : std::uint8_t { choosing, confirming };

Rounds half(const Rounds& rounds, Half which) {
  Rounds part;
  for (const auto& entry : rounds) {
    if ((entry.first % 2 == 0) == (which == Half::choosing)) part.insert(entry);
  }
  return part;
}

}  // namespace

std::vector<PointSummary> summarize(const result::Run& run) {
  const Samples samples(run);
  std::vector<PointSummary> summaries;
  summaries.reserve(run.points.size());
  for (const result::Point& point : run.points) summaries.push_back(summarize_point(run, samples, point));
  judge(samples, summaries);
  return summaries;
}

std::vector<const PointSummary*> rows_of(const std::vector<PointSummary>& summaries, const std::string& workload) {
  std::vector<const PointSummary*> rows;
  for (const char* role : {"baseline", "variant", "twin", "single"}) {
    for (const PointSummary& summary : summaries) {
      if (summary.point->workload == workload && summary.point->role == role && is_row(summary))
        rows.push_back(&summary);
    }
  }
  return rows;
}

bool is_row(const PointSummary& summary) { return summary.rounds > 0 && summary.point->role != "unrecorded"; }

std::vector<std::string> workloads(const result::Run& run) {
  std::vector<std::string> names;
  for (const result::Point& point : run.points) {
    if (std::find(names.begin(), names.end(), point.workload) == names.end()) names.push_back(point.workload);
  }
  return names;
}

Winner winner(const std::vector<PointSummary>& summaries, const result::Run& run, const std::string& workload) {
  const Samples samples(run);
  Winner best;
  const PointSummary* chosen = nullptr;
  double best_ratio = 0;
  for (const PointSummary& summary : summaries) {
    if (summary.point->workload != workload || summary.against_library.rounds == 0) continue;
    const result::Point* library = samples.partner(*summary.point, "baseline");
    const auto [a, b] =
        paired_steps(half(samples.of(*library), Half::choosing), half(samples.of(*summary.point), Half::choosing));
    const double ratio = compare_paired(a, b).ratio;
    if (a.empty() || ratio <= best_ratio) continue;
    best_ratio = ratio;
    chosen = &summary;
  }
  if (chosen == nullptr) return best;
  best.point = chosen->point;
  const result::Point* library = samples.partner(*best.point, "baseline");
  best.confirmed =
      compare(half(samples.of(*library), Half::confirming), half(samples.of(*best.point), Half::confirming));
  const std::string judged = verdict(best.confirmed, best.confirmed.p_value);
  best.faster = best.confirmed.ratio > 1 && judged.find("faster") != std::string::npos;
  const std::string on = fmt::format("on the {} round{} that did not choose it", best.confirmed.rounds,
                                     best.confirmed.rounds == 1 ? "" : "s");
  best.sentence = best.faster ? fmt::format("{} wins: {} than {} {}", chosen->label, judged, library->variant, on)
                              : fmt::format("leave it as it is: nothing beats {} (best: {}, {} {})", library->variant,
                                            chosen->label, judged, on);
  return best;
}

Comparison recording_cost(const result::Run& run) {
  const Samples samples(run);
  for (const result::Point& point : run.points) {
    if (point.role != "unrecorded" || samples.of(point).empty()) continue;
    const result::Point* recorded = samples.partner(point, "baseline");
    if (recorded == nullptr) recorded = samples.partner(point, "variant");
    if (recorded == nullptr) continue;
    return compare(samples.of(*recorded), samples.of(point));
  }
  return {};
}

double events_per_step(const result::Run& run) {
  const auto steps = std::count_if(run.trace.begin(), run.trace.end(), [](const auto& e) { return e.name == "step"; });
  return steps == 0 ? 0 : static_cast<double>(run.trace.size()) / static_cast<double>(steps);
}

}  // namespace ringmaster::report
