// SPDX-License-Identifier: Apache-2.0
// report.html: one page without a script and without anything loaded from elsewhere; charts are inline SVG. Every text
// of the run is escaped: names come from configs and files.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "report/bench_summary.hpp"
#include "report/exporter.hpp"
#include "report/html_charts.hpp"
#include "report/summary.hpp"

namespace ringmaster::report {
namespace {

constexpr const char* style_sheet = R"(
:root{--ink:#1b2733;--dim:#66737f;--line:#dde3e8;--paper:#fff;--soft:#f5f7f9;--good:#1a7f37;--bad:#b42318;--warn:#9a6700}
@media(prefers-color-scheme:dark){:root{--ink:#e2e8ee;--dim:#93a1ae;--line:#33404c;--paper:#14191e;--soft:#1c232a;--good:#56d364;--bad:#ff7b72;--warn:#e3b341}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:74rem;margin:2rem auto;padding:0 1.2rem}
h1{font-size:1.6rem;margin:0}h2{font-size:1.2rem;margin:2.2rem 0 .4rem}h3{font-size:1rem;margin:1.4rem 0 .3rem}
.dim{color:var(--dim)}.stamp{color:var(--warn);font-weight:600}.good{color:var(--good)}.bad{color:var(--bad)}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}td,th{padding:.3rem .6rem;text-align:right;border-bottom:1px solid var(--line)}
td:first-child,th:first-child,.left{text-align:left}th{color:var(--dim);font-weight:500}.scroll{overflow-x:auto}
ol li{margin:.5rem 0}code,pre{font-family:ui-monospace,monospace;font-size:.88em}pre{background:var(--soft);padding:1rem;overflow:auto}
.key{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin:0 .35em 0 .9em}svg text{fill:var(--ink);font:12px system-ui,sans-serif}svg .grid{stroke:var(--line)}
)";

class Page {
 public:
  Page(const result::Run& run, std::ostream& out) : run_(run), out_(out), summaries_(summarize(run)) {}

  void write() {
    out_ << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         << "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>ringmaster: "
         << escaped(run_.name) << "</title><style>" << style_sheet << "</style></head><body>\n";
    header();
    if (run_.kind == "bench") {
      out_ << bench_chart(run_);
      bench_table();
    } else {
      for (const std::string& workload : workloads(run_)) write_workload(workload);
      timeline();
    }
    facts();
    out_ << "</body></html>\n";
  }

 private:
  void paragraph(const std::string& text, const char* kind = "") {
    out_ << "<p class=\"" << kind << "\">" << escaped(text) << "</p>\n";
  }

  void header() {
    out_ << "<h1>" << escaped(run_.name) << "</h1>\n";
    paragraph(fmt::format("ringmaster {} on {} ranks, {}, {}", run_.kind, run_.ranks, run_.started, run_.status),
              "dim");
    for (const std::string& stamp : run_.stamps) paragraph(stamp, "stamp");
    for (const result::Interruption& i : run_.interruptions) {
      paragraph(fmt::format("interrupted: rank {} on {}: {}: was in {}", i.rank, i.host, i.signal_or_error, i.activity),
                "stamp");
    }
  }

  void write_workload(const std::string& workload) {
    const std::vector<const PointSummary*> rows = rows_of(summaries_, workload);
    if (rows.empty()) return;
    out_ << "<h2>" << escaped(workload.empty() ? run_.name : workload) << "</h2>\n";
    const Winner best = winner(summaries_, run_, workload);
    if (!best.sentence.empty()) paragraph(best.sentence, best.faster ? "good" : "");
    times_table(rows);
    out_ << "<h3>Where a step goes</h3>\n" << account_chart(rows) << "<h3>Loss</h3>\n" << loss_chart(run_, rows);
    const std::vector<Limit> causes = limits(run_, workload);
    if (causes.empty()) return;
    out_ << "<h3>What limits it</h3>\n<ol>\n";
    for (const Limit& limit : causes) {
      out_ << "<li>" << escaped(limit.sentence) << ".<br><span class=\"dim\">change: " << escaped(limit.cure)
           << "</span></li>\n";
    }
    out_ << "</ol>\n";
  }

  static std::string some(double value, const char* format) {
    return value == 0 || !std::isfinite(value) ? "" : fmt::format(fmt::runtime(format), value);
  }

  void times_table(const std::vector<const PointSummary*>& rows) {
    out_ << "<div class=\"scroll\"><table><tr><th>variant</th><th>step ms</th><th>95 % interval</th><th>over the twin "
            "ms</th>"
            "<th>hidden %</th><th>algbw GB/s</th><th>busbw GB/s</th><th>GEMM share %</th><th>scaling "
            "%</th><th>held-out loss</th>"
            "<th class=\"left\">against the library</th></tr>\n";
    for (const PointSummary* row : rows) {
      const std::string judged = row->point->role == "baseline" ? "(the library)" : row->verdict;
      out_ << "<tr><td title=\"" << escaped(row->point->what_runs) << "\">" << escaped(row->label) << "</td>"
           << fmt::format("<td><b>{:.3f}</b></td><td>{:.3f} - {:.3f}</td>", row->step_s.value * 1e3,
                          row->step_s.interval.low * 1e3, row->step_s.interval.high * 1e3)
           << "<td>" << some(row->overhead_s * 1e3, "{:.3f}") << "</td><td>"
           << (row->busbw_gb_per_s > 0 ? fmt::format("{:.1f}", 100 * row->hidden_share) : "") << "</td><td>"
           << some(row->algbw_gb_per_s, "{:.2f}") << "</td><td>" << some(row->busbw_gb_per_s, "{:.2f}") << "</td><td>"
           << some(row->flop_share * 100, "{:.0f}") << "</td><td>" << some(row->scaling_efficiency * 100, "{:.0f}")
           << "</td><td>" << some(row->point->role == "twin" ? 0 : row->held_out_loss, "{:.4f}") << "</td><td class=\""
           << verdict_class(row->verdict) << "\">" << escaped(judged)
           << (row->note.empty() ? "" : " <span class=\"stamp\">" + escaped(row->note) + "</span>") << "</td></tr>\n";
    }
    out_ << "</table></div>\n";
  }

  void bench_table() {
    out_ << "<div class=\"scroll\"><table>\n<tr><th></th><th></th><th colspan=\"4\">out of place</th><th "
            "colspan=\"4\">in place</th><th></th></tr>\n<tr><th>variant</th><th>size</th>";
    for (int side = 0; side < 2; ++side) out_ << "<th>time us</th><th>algbw GB/s</th><th>busbw GB/s</th><th>wrong</th>";
    out_ << "<th class=\"left\">in place, against the library</th></tr>\n";
    for (const BenchSummary& summary : summarize_bench(run_)) {
      const result::BenchRow& row = *summary.row;
      out_ << "<tr><td title=\"" << escaped(row.what_runs) << "\">" << escaped(row.variant) << "</td><td>"
           << format_size(row.bytes) << "</td>" << bench_cells(row.out_of_place, summary.out_of_place)
           << bench_cells(row.in_place, summary.in_place) << "<td class=\"" << verdict_class(summary.in_place.verdict)
           << "\">" << escaped(summary.in_place.verdict) << "</td></tr>\n";
    }
    out_ << "</table></div>\n";
    for (const result::BenchRow& row : run_.rows) {
      if (!row.skipped.empty()) paragraph(fmt::format("{} was not run: {}", row.variant, row.skipped), "dim");
    }
  }

  static std::string bench_cells(const result::BenchRow::Side& measured, const BenchSide& side) {
    return fmt::format("<td>{}</td><td>{}</td><td>{}</td><td>{}</td>", some(side.time_us, "{:.2f}"),
                       some(side.algbw_gb_per_s, "{:.3f}"), some(side.busbw_gb_per_s, "{:.3f}"),
                       measured.wrong < 0 ? "" : std::to_string(measured.wrong));
  }

  static const char* verdict_class(const std::string& verdict) {
    if (verdict.find("faster") != std::string::npos) return "left good";
    return verdict.find("slower") != std::string::npos ? "left bad" : "left";
  }

  void timeline() {
    const std::string chart = timeline_chart(run_);
    if (!chart.empty())
      out_ << "<h2>One step, rank by rank</h2>\n<p class=\"dim\">The last recorded step. trace.json opens in "
              "ui.perfetto.dev.</p>\n"
           << chart;
  }

  void texts(const char* title, const result::Texts& texts) {
    if (texts.empty()) return;
    out_ << "<h3>" << title << "</h3><table>\n";
    for (const auto& [name, text] : texts)
      out_ << "<tr><td>" << escaped(name) << "</td><td class=\"left\">" << escaped(text) << "</td></tr>\n";
    out_ << "</table>\n";
  }

  void facts() {
    const result::Machine& machine = run_.machine;
    const result::Ceilings& c = run_.ceilings;
    out_ << "<h2>Where it was measured</h2>\n";
    paragraph(fmt::format("{}, {} processing units, {:.0f} GB, {}", machine.processor, machine.processing_units,
                          machine.memory_gb, machine.topology));
    paragraph(
        fmt::format("ceilings of the same run: GEMM {:.1f} GFLOP/s a rank, copy {:.2f} GB/s in all, one flow {:.2f} "
                    "GB/s, 8 bytes one way {:.2f} us; "
                    "clocks agree to {:.2f} us; one recorded event costs {:.0f} ns",
                    c.gemm_gflop_per_s, c.copy_gb_per_s, c.link_gb_per_s, c.pingpong_us, run_.clock_residual_us,
                    run_.event_cost_ns));
    texts("Versions", machine.versions);
    texts("MPI", machine.mpi_settings);
    texts("Environment", machine.environment);
    out_ << "<h3>Config " << escaped(run_.config_hash) << "</h3><pre>" << escaped(run_.config_text) << "</pre>\n";
  }

  const result::Run& run_;
  std::ostream& out_;
  std::vector<PointSummary> summaries_;
};

void write(const result::Run& run, const ExportOptions&, std::ostream& out) { Page(run, out).write(); }

}  // namespace

const Exporter& html_exporter() {
  static const Exporter exporter{"html", "report.html", "a self-contained page with charts", write};
  return exporter;
}

}  // namespace ringmaster::report
