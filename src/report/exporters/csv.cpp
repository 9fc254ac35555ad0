// SPDX-License-Identifier: Apache-2.0
// summary.csv: a row a point (run) or a size and variant (bench). Fixed columns, RFC 4180 quoting; an empty field is
// "not measured". docs/results.md lists the columns.
#include <fmt/core.h>

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "report/bench_summary.hpp"
#include "report/exporter.hpp"
#include "report/summary.hpp"

namespace ringmaster::report {
namespace {

using Row = std::vector<std::string>;

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string out = "\"";
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

void write_row(std::ostream& out, const Row& row) {
  for (std::size_t i = 0; i < row.size(); ++i) out << (i == 0 ? "" : ",") << quoted(row[i]);
  out << "\r\n";
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : std::string(); }
std::string measured(double value) { return value == 0 ? std::string() : number(value); }

Row run_header() {
  Row header{"workload", "point", "label", "role", "ranks", "rounds", "step_us", "step_low_us", "step_high_us"};
  for (const char* key : result::account_keys) header.push_back(std::string(key) + "_share");
  for (const char* key :
       {"hidden_share", "communication_us", "queueing_us", "algbw_gb_per_s", "busbw_gb_per_s", "overhead_us",
        "interference_us", "flop_share", "final_loss", "held_out_loss", "ratio_to_library", "ratio_low", "ratio_high",
        "verdict", "scaling_efficiency", "what_runs", "note"}) {
    header.emplace_back(key);
  }
  return header;
}

Row run_row(const PointSummary& summary) {
  const result::Point& point = *summary.point;
  Row row{point.workload,
          point.name,
          summary.label,
          point.role,
          std::to_string(point.ranks),
          std::to_string(summary.rounds)};
  const bool any = summary.rounds > 0;
  const double us = 1e6;
  for (const double s : {summary.step_s.value, summary.step_s.interval.low, summary.step_s.interval.high}) {
    row.push_back(any ? number(s * us) : "");
  }
  const bool accounts = any && point.role != "unrecorded";
  for (const double share : summary.share) row.push_back(accounts ? number(share) : "");
  row.push_back(accounts ? number(summary.hidden_share) : "");
  row.push_back(accounts ? number(summary.communication_s * us) : "");
  row.push_back(accounts ? number(summary.queueing_s * us) : "");
  for (const double value :
       {summary.algbw_gb_per_s, summary.busbw_gb_per_s, summary.overhead_s * us, summary.interference_s * us,
        summary.flop_share, summary.final_loss, summary.held_out_loss}) {
    row.push_back(measured(value));
  }
  const bool judged = summary.against_library.rounds > 0;
  for (const double value :
       {summary.against_library.ratio, summary.against_library.interval.low, summary.against_library.interval.high}) {
    row.push_back(judged ? number(value) : "");
  }
  row.insert(row.end(), {summary.verdict, measured(summary.scaling_efficiency), point.what_runs, summary.note});
  return row;
}

void bench_side(const result::BenchRow::Side& side, std::int64_t bytes, int ranks, Row& row) {
  const BenchSide summary = summarize_side(side, bytes, ranks);
  const bool timed = summary.time_us > 0;
  row.push_back(number(summary.time_us));
  row.push_back(timed ? number(summary.algbw_gb_per_s) : "");
  row.push_back(timed ? number(summary.busbw_gb_per_s) : "");
  row.push_back(number(summary.transfer_us));
  row.push_back(number(summary.skew_us));
  row.push_back(side.wrong < 0 ? "" : std::to_string(side.wrong));
}

void write_bench(const result::Run& run, std::ostream& out) {
  Row header{"size_bytes", "count", "type", "reduction", "variant", "role", "same_as", "rounds"};
  for (const char* side : {"out_of_place_", "in_place_"}) {
    for (const char* key : {"time_us", "algbw_gb_per_s", "busbw_gb_per_s", "transfer_us", "skew_us", "wrong"}) {
      header.push_back(std::string(side) + key);
    }
  }
  header.insert(header.end(), {"what_runs", "note"});
  write_row(out, header);
  for (const result::BenchRow& bench : run.rows) {
    std::string same;
    for (const std::string& name : bench.same_as) same += (same.empty() ? "" : " ") + name;
    Row row{std::to_string(bench.bytes),
            std::to_string(bench.count),
            bench.type,
            bench.reduction,
            bench.variant,
            bench.role,
            same,
            std::to_string(std::max(bench.out_of_place.samples_us.size(), bench.in_place.samples_us.size()))};
    bench_side(bench.out_of_place, bench.bytes, run.ranks, row);
    bench_side(bench.in_place, bench.bytes, run.ranks, row);
    row.insert(row.end(), {bench.what_runs, bench.skipped});
    write_row(out, row);
  }
}

void write(const result::Run& run, const ExportOptions&, std::ostream& out) {
  if (run.kind == "bench") return write_bench(run, out);
  write_row(out, run_header());
  for (const PointSummary& summary : summarize(run)) write_row(out, run_row(summary));
}

}  // namespace

const Exporter& csv_exporter() {
  static const Exporter exporter{"csv", "summary.csv", "a row a point with fixed columns", write};
  return exporter;
}

}  // namespace ringmaster::report
