// SPDX-License-Identifier: Apache-2.0
#include "report/bench_table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <vector>

#include "report/bench_best.hpp"
#include "report/bench_summary.hpp"

namespace ringmaster::report {
namespace {

// nccl-tests' own rule: as many decimals as fit.
std::string time_text(double us) {
  if (!std::isfinite(us)) return "-";
  return us >= 1e5 ? fmt::format("{:.0f}", us) : us >= 1e4 ? fmt::format("{:.1f}", us) : fmt::format("{:.2f}", us);
}

struct Totals {
  double busbw_sum = 0;
  int busbw_count = 0;
  std::int64_t wrong = 0;
  bool checked = false;
};

std::string side_text(const result::BenchRow::Side& side, std::int64_t bytes, int ranks, Totals& totals) {
  const BenchSide measured = summarize_side(side, bytes, ranks);
  if (!(measured.time_us > 0)) return fmt::format("  {:>8} {:>7} {:>7} {:>6}", "-", "-", "-", "-");
  totals.busbw_sum += measured.busbw_gb_per_s;
  ++totals.busbw_count;
  if (side.wrong >= 0) {
    totals.checked = true;
    totals.wrong += side.wrong;
  }
  return fmt::format("  {:>8} {:>7.2f} {:>7.2f} {:>6}", time_text(measured.time_us), measured.algbw_gb_per_s,
                     measured.busbw_gb_per_s, side.wrong < 0 ? std::string("N/A") : std::to_string(side.wrong));
}

void write_variant(const result::Run& run, const std::string& variant, const Painter& painter, std::ostream& out) {
  const result::BenchRow* first = nullptr;
  for (const result::BenchRow& row : run.rows) {
    if (row.variant == variant && (first == nullptr || (first->what_runs.empty() && !row.what_runs.empty())))
      first = &row;
  }
  std::string title = variant;
  for (const std::string& same : first->same_as) title += " = " + same;
  out << "#\n# " << painter.paint(printable(title), Style::bold);
  if (!first->what_runs.empty()) out << ": " << printable(first->what_runs);
  out << "\n";
  out << painter.paint(fmt::format("# {:>11} {:>12} {:>9} {:>6} {:>5}  {:^31}  {:^31}", "", "", "", "", "",
                                   "out-of-place", "in-place"),
                       Style::dim)
      << "\n";
  const std::string side = fmt::format("  {:>8} {:>7} {:>7} {:>6}", "time", "algbw", "busbw", "#wrong");
  const std::string units = fmt::format("  {:>8} {:>7} {:>7} {:>6}", "(us)", "(GB/s)", "(GB/s)", "");
  out << painter.paint(
             fmt::format("# {:>11} {:>12} {:>9} {:>6} {:>5}{}{}", "size", "count", "type", "redop", "root", side, side),
             Style::dim)
      << "\n";
  out << painter.paint(
             fmt::format("# {:>11} {:>12} {:>9} {:>6} {:>5}{}{}", "(B)", "(elements)", "", "", "", units, units),
             Style::dim)
      << "\n";
  Totals totals;
  std::string skipped;
  std::string what_runs = first->what_runs;
  for (const result::BenchRow& row : run.rows) {
    if (row.variant != variant) continue;
    if (!row.skipped.empty()) {
      skipped = row.skipped;
      continue;
    }
    if (row.what_runs != what_runs) out << "# from here: " << printable(row.what_runs) << "\n";
    what_runs = row.what_runs;
    out << fmt::format("{:>13} {:>12} {:>9} {:>6} {:>5}", row.bytes, row.count, printable(row.type),
                       printable(row.reduction), -1)
        << side_text(row.out_of_place, row.bytes, run.ranks, totals)
        << side_text(row.in_place, row.bytes, run.ranks, totals) << "\n";
  }
  if (!skipped.empty()) out << "# not run: " << printable(skipped) << "\n";
  if (totals.checked)
    out << fmt::format("# Out of bounds values : {} {}\n", totals.wrong, totals.wrong == 0 ? "OK" : "FAILED");
  if (totals.busbw_count > 0)
    out << fmt::format("# Avg bus bandwidth    : {:.4g}\n", totals.busbw_sum / totals.busbw_count);
}

/// In place, as training reduces: every variant against the library at its size.
void write_verdicts(const result::Run& run, const Painter& painter, std::ostream& out) {
  const std::vector<BenchSummary> summaries = summarize_bench(run);
  const bool any = std::any_of(summaries.begin(), summaries.end(),
                               [](const BenchSummary& s) { return s.in_place.against_library.rounds > 0; });
  if (!any) return;
  out << "#\n# " << painter.paint("against the library, in place", Style::bold)
      << " (paired rounds, 95 % intervals, corrected over the table)\n";
  std::size_t width = 0;
  for (const BenchSummary& summary : summaries) width = std::max(width, printable(summary.row->variant).size());
  out << painter.paint(fmt::format("# {:>11}  {:<{}}  {:<30}  {:>11}  {:>9}", "size", "variant", width, "verdict",
                                   "transfer us", "skew us"),
                       Style::dim)
      << "\n";
  for (const BenchSummary& summary : summaries) {
    if (summary.row->role == "bound") continue;
    const BenchSide& side = summary.in_place;
    out << fmt::format("{:>13}  {:<{}}  {:<30}  {:>11}  {:>9}\n", summary.row->bytes, printable(summary.row->variant),
                       width, summary.row->role == "baseline" ? "(the library)" : side.verdict,
                       time_text(side.transfer_us), time_text(side.skew_us));
  }
}

std::string share_text(double share) { return std::isfinite(share) ? fmt::format("{:.0f} %", 100 * share) : "-"; }

/// How wide a column of such texts is.
template <class Text>
std::size_t width_of(const std::vector<BestRow>& rows, const Text& text) {
  std::size_t width = 0;
  for (const BestRow& row : rows) width = std::max(width, text(row).size());
  return width;
}

/// The best of each side, whatever it is called.
void write_best(const result::Run& run, const Painter& painter, std::ostream& out) {
  const std::vector<BestRow> rows = best_rows(run);
  if (rows.empty()) return;
  const auto own = [](const BestRow& row) { return printable(row.own); };
  const auto library = [](const BestRow& row) {
    return row.library.empty() ? std::string("-") : printable(row.library);
  };
  const std::size_t own_width = std::max<std::size_t>(width_of(rows, own), 4);
  const std::size_t library_width = std::max<std::size_t>(width_of(rows, library), 9);
  out << "#\n# " << painter.paint("the best of ringmaster against the best of the library", Style::bold)
      << " (chosen in every second round, compared in the others; 95 % intervals)\n";
  out << painter.paint(fmt::format("# {:>11}  {:<12}  {:<{}}  {:<{}}  {:>10}  {:>6}  {:<16}  {}", "size", "", "ours",
                                   own_width, "library's", library_width, "ours us", "ratio", "", "of the copy bound"),
                       Style::dim)
      << "\n";
  for (const BestRow& row : rows) {
    const Comparison& ratio = row.comparison;
    const bool compared = ratio.rounds > 0;
    out << fmt::format("{:>13}  {:<12}  {:<{}}  {:<{}}  {:>10}  {:>6}  {:<16}  {}\n", row.bytes, name_of(row.placement),
                       own(row), own_width, library(row), library_width, time_text(row.own_us),
                       compared ? fmt::format("{:.2f}x", ratio.ratio) : "-",
                       compared ? fmt::format("[{:.2f}, {:.2f}]", ratio.interval.low, ratio.interval.high) : "",
                       share_text(row.bound_share));
  }
  for (const BenchPlacement placement : {BenchPlacement::out_of_place, BenchPlacement::in_place}) {
    const double mean = mean_ratio(rows, placement);
    if (std::isfinite(mean)) out << fmt::format("# {}, geometric mean: {:.2f}x\n", name_of(placement), mean);
  }
}

}  // namespace

void write_bench_table(const result::Run& run, const Painter& painter, std::ostream& out) {
  std::vector<std::string> variants;
  for (const result::BenchRow& row : run.rows) {
    if (row.role == "bound") continue;
    if (std::find(variants.begin(), variants.end(), row.variant) == variants.end()) variants.push_back(row.variant);
  }
  for (const std::string& variant : variants) write_variant(run, variant, painter, out);
  write_verdicts(run, painter, out);
  write_best(run, painter, out);
  if (run.ranks < 2) out << "# one rank: nothing is sent, bandwidths say nothing\n";
}

}  // namespace ringmaster::report
