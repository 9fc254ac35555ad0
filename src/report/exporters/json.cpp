// SPDX-License-Identifier: Apache-2.0
// summary.json: the whole run with all samples, and what the report concludes from them under "summary". The keys of
// the samples are the store's (docs/results.md).
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "report/bench_best.hpp"
#include "report/bench_summary.hpp"
#include "report/exporter.hpp"
#include "report/summary.hpp"
#include "result/store.hpp"

namespace ringmaster::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr double us = 1e6;

/// Zero means "not measured" for these.
Json measured(double value) { return value == 0 || !std::isfinite(value) ? Json(nullptr) : Json(value); }

Json interval(const Interval& bounds, double scale) { return Json::array({bounds.low * scale, bounds.high * scale}); }

Json point_json(const PointSummary& summary) {
  const result::Point& point = *summary.point;
  Json json{{"point", point.id},          {"name", point.name}, {"label", summary.label},
            {"workload", point.workload}, {"role", point.role}, {"rounds", summary.rounds}};
  if (summary.rounds > 0) {
    json["step_us"] = summary.step_s.value * us;
    json["step_interval_us"] = interval(summary.step_s.interval, us);
    Json shares = Json::object();
    for (std::size_t a = 0; a < summary.share.size(); ++a) shares[result::account_keys[a]] = summary.share[a];
    json["account_shares"] = std::move(shares);
    json["hidden_share"] = summary.hidden_share;
    json["communication_us"] = summary.communication_s * us;
    json["queueing_us"] = summary.queueing_s * us;
  }
  json["algbw_gb_per_s"] = measured(summary.algbw_gb_per_s);
  json["busbw_gb_per_s"] = measured(summary.busbw_gb_per_s);
  json["overhead_us"] = measured(summary.overhead_s * us);
  json["interference_us"] = measured(summary.interference_s * us);
  json["flop_share"] = measured(summary.flop_share);
  json["final_loss"] = measured(summary.final_loss);
  json["held_out_loss"] = measured(summary.held_out_loss);
  json["scaling_efficiency"] = measured(summary.scaling_efficiency);
  if (summary.against_library.rounds > 0) {
    json["against_library"] = {{"ratio", summary.against_library.ratio},
                               {"interval", interval(summary.against_library.interval, 1)},
                               {"p_value", summary.against_library.p_value},
                               {"rounds", summary.against_library.rounds}};
  }
  json["verdict"] = summary.verdict;
  json["in_two_goes"] = summary.in_two_goes;
  json["note"] = summary.note;
  return json;
}

Json workload_json(const result::Run& run, const std::vector<PointSummary>& summaries, const std::string& workload) {
  Json causes = Json::array();
  for (const Limit& limit : limits(run, workload)) {
    causes.push_back({{"cause", name_of(limit.cause)},
                      {"cost_us", limit.seconds * us},
                      {"share", limit.share},
                      {"sentence", limit.sentence},
                      {"change", limit.cure}});
  }
  const Winner best = winner(summaries, run, workload);
  Json json{{"workload", workload}, {"limits", std::move(causes)}};
  json["winner"] = best.faster ? Json(best.point->name) : Json(nullptr);
  json["winner_sentence"] = best.sentence;
  return json;
}

Json bench_side_json(const BenchSide& side) {
  Json json{{"time_us", measured(side.time_us)},
            {"algbw_gb_per_s", measured(side.algbw_gb_per_s)},
            {"busbw_gb_per_s", measured(side.busbw_gb_per_s)},
            {"transfer_us", measured(side.transfer_us)},
            {"skew_us", measured(side.skew_us)},
            {"verdict", side.verdict}};
  if (side.against_library.rounds > 0) {
    json["against_library"] = {{"ratio", side.against_library.ratio},
                               {"interval", interval(side.against_library.interval, 1)},
                               {"p_value", side.against_library.p_value},
                               {"rounds", side.against_library.rounds}};
  }
  return json;
}

Json bench_json(const result::Run& run) {
  Json rows = Json::array();
  for (const BenchSummary& summary : summarize_bench(run)) {
    rows.push_back({{"variant", summary.row->variant},
                    {"size_bytes", summary.row->bytes},
                    {"out_of_place", bench_side_json(summary.out_of_place)},
                    {"in_place", bench_side_json(summary.in_place)}});
  }
  return rows;
}

Json best_json(const result::Run& run) {
  Json rows = Json::array();
  for (const BestRow& row : best_rows(run)) {
    Json json{{"size_bytes", row.bytes},
              {"placement", name_of(row.placement)},
              {"own", row.own},
              {"own_us", measured(row.own_us)},
              {"copy_bound_share", measured(row.bound_share)}};
    if (row.comparison.rounds > 0) {
      json["library"] = row.library;
      json["library_us"] = measured(row.library_us);
      json["ratio"] = row.comparison.ratio;
      json["interval"] = interval(row.comparison.interval, 1);
    }
    rows.push_back(std::move(json));
  }
  return rows;
}

void write(const result::Run& run, const ExportOptions&, std::ostream& out) {
  Json json = Json::parse(to_json_complete(run, -1));
  const std::vector<PointSummary> summaries = summarize(run);
  Json points = Json::array();
  for (const PointSummary& summary : summaries) points.push_back(point_json(summary));
  Json loads = Json::array();
  for (const std::string& workload : workloads(run)) loads.push_back(workload_json(run, summaries, workload));
  json["summary"] = {{"points", std::move(points)}, {"workloads", std::move(loads)}};
  json["summary"]["events_per_step"] = measured(events_per_step(run));
  if (run.kind == "bench") {
    json["summary"]["bench"] = bench_json(run);
    json["summary"]["best"] = best_json(run);
  }
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

}  // namespace

const Exporter& json_exporter() {
  static const Exporter exporter{"json", "summary.json", "everything: samples, summary, limits", write};
  return exporter;
}

}  // namespace ringmaster::report
