// SPDX-License-Identifier: Apache-2.0
// What a user sees first: per workload a table of times and verdicts, a table of where a step goes (a letter an
// account, so that it reads without colour), what limits the run, and what measuring cost. Fits 80 to 120 columns.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "base/text.hpp"
#include "report/account_bar.hpp"
#include "report/bench_table.hpp"
#include "report/exporter.hpp"
#include "report/summary.hpp"
#include "report/table.hpp"

namespace ringmaster::report {
namespace {

using account::Account;

struct Unit {
  const char* name;
  double scale;
};
Unit unit_for(double seconds) {
  if (seconds >= 1) return {"s", 1};
  return seconds >= 1e-3 ? Unit{"ms", 1e3} : Unit{"us", 1e6};
}

/// Three significant digits without an exponent.
std::string digits(double value) {
  const double size = std::fabs(value);
  return size >= 100  ? fmt::format("{:.0f}", value)
         : size >= 10 ? fmt::format("{:.1f}", value)
                      : fmt::format("{:.2f}", value);
}

/// Times beside their interval: four digits.
std::string time_digits(double value) {
  const double size = std::fabs(value);
  const int decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string percent(double share) {
  const double value = 100 * share;
  if (std::fabs(value) < 0.05) return "0";
  return std::fabs(value) < 9.95 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

std::string plural(std::int64_t n, const std::string& what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

class Page {
 public:
  Page(const result::Run& run, const ExportOptions& options, std::ostream& out)
      : run_(run), painter_(options.color), width_(std::clamp(options.width, 60, 120)), out_(out) {}

  void write() {
    header();
    if (run_.kind == "bench") return write_bench_table(run_, painter_, out_);
    summaries_ = summarize(run_);
    for (const std::string& workload : workloads(run_)) write_workload(workload);
    write_limits();
    write_unmeasured();
    write_skipped();
    write_measuring();
  }

 private:
  void line(const std::string& text, Style style = Style::plain) {
    std::string lines = wrapped(printable(text), width_, "", "  ");
    lines.pop_back();
    out_ << painter_.paint(lines, style) << "\n";
  }

  void header() {
    std::vector<std::string> nodes = run_.machine.hosts;
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    const std::string title = fmt::format("ringmaster {} {}", run_.kind, run_.name);
    const std::string where = nodes.empty() ? "" : " on " + plural(static_cast<std::int64_t>(nodes.size()), "node");
    const std::string rest = fmt::format("  {}{}, {}", plural(run_.ranks, "rank"), where, run_.status);
    const std::string all = printable(title + rest);
    out_ << painter_.paint(printable(title), Style::bold) << printable(rest) << "\n"
         << painter_.paint(
                std::string(std::min<std::size_t>(display_width(all), static_cast<std::size_t>(width_)), '='),
                Style::dim)
         << "\n";
    if (!run_.machine.processor.empty()) {
      line(fmt::format("{}, {}, {:.0f} GB", run_.machine.processor,
                       plural(run_.machine.processing_units, "processing unit"), run_.machine.memory_gb),
           Style::dim);
    }
    const result::Ceilings& c = run_.ceilings;
    if (c.gemm_gflop_per_s > 0) {
      line(fmt::format(
               "ceilings of this run: GEMM {} GFLOP/s a rank, copy {} GB/s in all, one flow {} GB/s, 8 bytes in {} us",
               digits(c.gemm_gflop_per_s), digits(c.copy_gb_per_s), digits(c.link_gb_per_s), digits(c.pingpong_us)),
           Style::dim);
    }
    for (const std::string& stamp : run_.stamps) line("! " + stamp, Style::warning);
    for (const result::Interruption& i : run_.interruptions) {
      const char* when = run_.status == "complete" ? "interrupted once, then resumed" : "interrupted";
      line(fmt::format("! {}: rank {} on {}: {}: was in {}", when, i.rank, i.host, i.signal_or_error, i.activity),
           Style::warning);
    }
  }

  void write_workload(const std::string& workload) {
    const std::vector<const PointSummary*> rows = rows_of(summaries_, workload);
    if (rows.empty()) return;
    out_ << "\n";
    describe_workload(workload, *rows.front());
    out_ << "\n";
    write_times(rows);
    out_ << "\n";
    write_accounts(rows);
    conclude(workload, rows);
    what_ran(rows);
  }

  void describe_workload(const std::string& workload, const PointSummary& first) {
    const result::Point& point = *first.point;
    out_ << painter_.paint(printable(workload.empty() ? run_.name : workload), Style::bold) << "\n";
    line(fmt::format("{:.2f} M parameters, {:.1f} MB of gradients in {}, {} samples a step, {}",
                     static_cast<double>(point.parameters) * 1e-6, static_cast<double>(point.gradient_bytes) * 1e-6,
                     plural(point.buckets, "bucket"), point.samples_per_step, plural(first.rounds, "round")));
    if (first.held_out_loss == 0 && first.final_loss == 0) return;
    const double begin = first_loss(point);
    std::string loss =
        fmt::format("loss {:.3f} -> {:.3f}, held out {:.3f}", begin, first.final_loss, first.held_out_loss);
    const double entropy = entropy_of(point, begin);
    if (entropy > 0) {
      loss +=
          fmt::format("; unigram entropy of the data {:.3f}: {}", entropy,
                      first.held_out_loss < entropy ? "the model knows more than letter counts" : "not below it yet");
    }
    line(loss);
  }

  double first_loss(const result::Point& point) const {
    for (const result::Block& block : run_.blocks) {
      if (block.point == point.id && block.first_step == 0 && !block.loss.empty()) return block.loss.front();
    }
    return std::nan("");
  }

  /// Of the tokens that the point reads; 0 for a model without tokens. Where only the run knows it, a first loss
  /// above it tells a token model (it begins near ln of the vocabulary).
  double entropy_of(const result::Point& point, double first) const {
    if (point.unigram_entropy > 0) return point.unigram_entropy;
    return first > run_.unigram_entropy ? run_.unigram_entropy : 0;
  }

  void write_times(const std::vector<const PointSummary*>& rows) {
    double longest = 0;
    for (const PointSummary* row : rows) longest = std::max(longest, row->step_s.value);
    const Unit unit = unit_for(longest);
    Table table({{"variant", Align::left, 0},
                 {fmt::format("step {}", unit.name), Align::right, 0},
                 {"95 % interval", Align::left, 0},
                 {"against the library", Align::left, 0}});
    for (const PointSummary* row : rows) {
      const Style style = row->verdict.find("faster") != std::string::npos   ? Style::good
                          : row->verdict.find("slower") != std::string::npos ? Style::bad
                                                                             : Style::plain;
      table.add({{printable(row->label)},
                 {time_digits(row->step_s.value * unit.scale), Style::bold},
                 {fmt::format("[{}, {}]", time_digits(row->step_s.interval.low * unit.scale),
                              time_digits(row->step_s.interval.high * unit.scale))},
                 {row->point->role == "baseline" ? "(the library)" : row->verdict, style}});
    }
    out_ << table.text(painter_, width_);
    write_communication(rows, unit);
  }

  void write_communication(const std::vector<const PointSummary*>& rows, const Unit& unit) {
    Table table({{"communication", Align::left, 0},
                 {fmt::format("over twin {}", unit.name), Align::right, 1},
                 {"hidden %", Align::right, 0},
                 {"algbw", Align::right, 0},
                 {"busbw", Align::right, 0},
                 {"held out", Align::right, 2}});
    for (const PointSummary* row : rows) {
      if (!(row->busbw_gb_per_s > 0)) continue;
      table.add({{printable(row->label)},
                 {row->overhead_s == 0 ? "" : time_digits(row->overhead_s * unit.scale)},
                 {percent(row->hidden_share)},
                 {digits(row->algbw_gb_per_s)},
                 {digits(row->busbw_gb_per_s)},
                 {row->held_out_loss == 0 ? "" : fmt::format("{:.3f}", row->held_out_loss)}});
    }
    if (!table.empty()) out_ << "\n" << table.text(painter_, width_);
  }

  std::vector<std::size_t> accounts_shown(const std::vector<const PointSummary*>& rows) const {
    std::vector<std::size_t> shown;
    for (std::size_t a = 0; a < account_looks.size(); ++a) {
      if (std::any_of(rows.begin(), rows.end(),
                      [a](const PointSummary* row) { return std::fabs(row->share[a]) >= 0.0005; }))
        shown.push_back(a);
    }
    return shown;
  }

  void write_accounts(const std::vector<const PointSummary*>& rows) {
    const std::vector<std::size_t> shown = accounts_shown(rows);
    std::size_t label = 0;
    for (const PointSummary* row : rows) label = std::max(label, display_width(printable(row->label)));
    std::size_t taken = 2 + std::min<std::size_t>(label, 24) + 2;
    for (const std::size_t a : shown)
      taken += 2 + std::max<std::size_t>(std::string_view(account_looks[a].title).size(), 3);
    const auto room = static_cast<std::size_t>(width_);
    const std::size_t bar_width = std::clamp<std::size_t>(room > taken ? room - taken : 0, 10, 40);
    std::vector<Column> columns{{"% of a step", Align::left, 0}, {std::string(bar_width, ' '), Align::left, 1}};
    for (const std::size_t a : shown) columns.push_back({account_looks[a].title, Align::right, 0});
    Table table(std::move(columns));
    for (const PointSummary* row : rows) {
      std::vector<Cell> cells{{printable(row->label)}, account_bar(*row, bar_width, painter_)};
      for (const std::size_t a : shown) cells.push_back({percent(row->share[a])});
      table.add(std::move(cells));
    }
    out_ << table.text(painter_, width_);
    const std::string text = "algbw, busbw in GB/s; " + account_legend(shown);
    out_ << painter_.paint(wrapped(text, width_, "  ", "  "), Style::dim);
  }

  void conclude(const std::string& workload, const std::vector<const PointSummary*>& rows) {
    out_ << "\n";
    const PointSummary& first = *rows.front();
    if (first.overhead_s != 0) {
      const Unit unit = unit_for(first.step_s.value);
      line(fmt::format(
          "- without communication a step takes {:.3g} {}: {} pays {:.3g}, of which the accounts explain {:.3g}; "
          "interference {:.2g}",
          (first.step_s.value - first.overhead_s) * unit.scale, unit.name, first.label, first.overhead_s * unit.scale,
          (first.overhead_s - first.interference_s) * unit.scale, first.interference_s * unit.scale));
    }
    list_of(rows, "of transfer, queueing behind earlier buckets: ", [](const PointSummary& row) {
      return row.queueing_s > 0.01 * row.step_s.value ? format_time(row.queueing_s) : std::string();
    });
    list_of(rows, "scaling efficiency against one rank: ", [](const PointSummary& row) {
      return row.scaling_efficiency > 0 ? fmt::format("{:.0f} %", 100 * row.scaling_efficiency) : std::string();
    });
    if (first.flop_share > 0)
      line(fmt::format("- forward and backward run at {:.0f} % of the GEMM rate", 100 * first.flop_share));
    if (std::any_of(rows.begin(), rows.end(), [](const PointSummary* row) { return !row->point->same_as.empty(); })) {
      line(
          fmt::format("- variants joined by = are the same schedule at {}: measured once", plural(run_.ranks, "rank")));
    }
    const Winner best = winner(summaries_, run_, workload);
    if (!best.sentence.empty()) line("- " + best.sentence, best.faster ? Style::good : Style::plain);
    for (const PointSummary* row : rows) {
      if (!row->note.empty()) line("! " + row->label + ": " + row->note, Style::warning);
    }
  }

  void what_ran(const std::vector<const PointSummary*>& rows) {
    for (const PointSummary* row : rows) {
      const result::Point& point = *row->point;
      if (point.what_runs.empty() || point.role == "twin" || point.role == "single") continue;
      line(fmt::format("- {} ran as {}", row->label, point.what_runs), Style::dim);
    }
  }

  /// One line "- TITLE a 1, b 2" of the rows that have a value.
  void list_of(const std::vector<const PointSummary*>& rows, const std::string& title,
               std::string (*value)(const PointSummary&)) {
    std::string text;
    for (const PointSummary* row : rows) {
      const std::string shown = value(*row);
      if (!shown.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", row->label, shown);
    }
    if (!text.empty()) line("- " + title + text);
  }

  void write_limits() {
    for (const std::string& workload : workloads(run_)) {
      const std::vector<Limit> causes = limits(run_, workload);
      if (causes.empty()) continue;
      out_ << "\n"
           << painter_.paint(printable(fmt::format("What limits {}", workload.empty() ? "this run" : workload)),
                             Style::bold)
           << "\n";
      for (std::size_t i = 0; i < causes.size(); ++i) {
        out_ << wrapped(printable(causes[i].sentence) + ".", width_, fmt::format("  {}. ", i + 1), "     ");
        out_ << wrapped("change: " + printable(causes[i].cure), width_, "     ", "     ");
      }
    }
  }

  /// Points that ran and have no row: what became of them must not be lost with the row.
  void write_unmeasured() {
    std::string text;
    for (const PointSummary& summary : summaries_) {
      if (summary.rounds > 0 || !summary.point->skipped.empty() || summary.note.empty()) continue;
      text += wrapped(printable(summary.point->name + ": " + summary.note), width_, "! ", "  ");
    }
    if (!text.empty()) out_ << "\n" << painter_.paint("Without a figure", Style::bold) << "\n" << text;
  }

  void write_skipped() {
    std::string text;
    for (const PointSummary& summary : summaries_) {
      if (summary.point->skipped.empty() || summary.point->skipped.rfind("the same schedule as", 0) == 0) continue;
      text += "- " + printable(summary.point->name + ": " + summary.point->skipped) + "\n";
    }
    if (!text.empty()) out_ << "\n" << painter_.paint("Not run", Style::bold) << "\n" << text;
  }

  void write_measuring() {
    double unaccounted = 0;
    double other = 0;
    double shortest = 0;
    for (const PointSummary& summary : summaries_) {
      if (!is_row(summary) || (summary.point->role != "variant" && summary.point->role != "baseline")) continue;
      unaccounted = std::max(unaccounted, std::fabs(summary.share[static_cast<std::size_t>(Account::unaccounted)]));
      other = std::max(other, summary.share[static_cast<std::size_t>(Account::other)]);
      if (shortest == 0 || summary.step_s.value < shortest) shortest = summary.step_s.value;
    }
    if (shortest == 0) return;
    out_ << "\n" << painter_.paint("How far to trust this", Style::bold) << "\n";
    const bool balanced = unaccounted <= 0.01 && other <= 0.03;
    line(fmt::format("- the books {}: at most {} % of a step is unaccounted (bound 1), {} % other (bound 3)",
                     balanced ? "balance" : "DO NOT BALANCE", percent(unaccounted), percent(other)),
         balanced ? Style::plain : Style::bad);
    const double events = events_per_step(run_);
    if (events > 0) {
      line(fmt::format("- recording: {:.0f} events a step of {:.0f} ns each, {:.3f} % of the shortest step", events,
                       run_.event_cost_ns, 100 * events * run_.event_cost_ns * 1e-9 / shortest));
    }
    const Comparison cost = recording_cost(run_);
    if (cost.rounds > 0) {
      line(fmt::format("- recorder on against off, {} paired rounds: the step is {:+.2f} % [{:+.2f}, {:+.2f}]",
                       cost.rounds, 100 * (cost.ratio - 1), 100 * (cost.interval.low - 1),
                       100 * (cost.interval.high - 1)));
    }
    if (run_.clock_residual_us > 0)
      line(fmt::format("- clocks of all ranks agree to {:.2g} us", run_.clock_residual_us));
  }

  const result::Run& run_;
  Painter painter_;
  int width_;
  std::ostream& out_;
  std::vector<PointSummary> summaries_;
};

void write(const result::Run& run, const ExportOptions& options, std::ostream& out) { Page(run, options, out).write(); }

}  // namespace

const Exporter& terminal_exporter() {
  static const Exporter exporter{"terminal", "", "tables and words for a terminal", write};
  return exporter;
}

}  // namespace ringmaster::report
