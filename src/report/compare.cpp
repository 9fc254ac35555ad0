// SPDX-License-Identifier: Apache-2.0
#include "report/compare.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/text.hpp"
#include "report/samples.hpp"
#include "report/table.hpp"

namespace ringmaster::report {
namespace {

/// Times by round, in seconds, of everything in a run that has a name.
struct Series {
  std::string name;
  std::map<int, double> times;
};

std::vector<Series> series_of(const result::Run& run) {
  std::vector<Series> all;
  const Samples samples(run);
  for (const result::Point& point : run.points) {
    Series series{point.name, {}};
    for (const auto& [round, block] : samples.of(point)) series.times[round] = step_s(*block);
    if (!series.times.empty()) all.push_back(std::move(series));
  }
  for (const result::BenchRow& row : run.rows) {
    for (const auto& [side, where] :
         {std::pair(&row.out_of_place, "out of place"), std::pair(&row.in_place, "in place")}) {
      Series series{fmt::format("{} {} {} {}", row.variant, format_size(row.bytes), row.type, where), {}};
      for (std::size_t i = 0; i < side->samples_us.size(); ++i)
        series.times[static_cast<int>(i)] = side->samples_us[i] * 1e-6;
      if (!series.times.empty()) all.push_back(std::move(series));
    }
  }
  return all;
}

std::vector<double> all_times(const Series& series) {
  std::vector<double> times;
  for (const auto& [round, time] : series.times) times.push_back(time);
  return times;
}

Comparison compare_series(const Series& before, const Series& after, Pairing pairing) {
  if (pairing == Pairing::unpaired) return compare_unpaired(all_times(before), all_times(after));
  std::vector<double> a;
  std::vector<double> b;
  for (const auto& [round, time] : before.times) {
    const auto other = after.times.find(round);
    if (other == after.times.end()) continue;
    a.push_back(time);
    b.push_back(other->second);
  }
  return compare_paired(a, b);
}

bool same_machine(const result::Machine& a, const result::Machine& b) {
  return a.hosts == b.hosts && a.processor == b.processor && a.processing_units == b.processing_units &&
         a.rank_processing_units == b.rank_processing_units;
}

void choose_pairing(const result::Run& before, const result::Run& after, RunComparison& comparison) {
  const bool config = !before.config_hash.empty() && before.config_hash == after.config_hash;
  const bool machine = same_machine(before.machine, after.machine) && before.ranks == after.ranks;
  comparison.pairing = config && machine ? Pairing::paired : Pairing::unpaired;
  comparison.why =
      config && machine ? "same config and machine: rounds are paired"
      : config ? "another machine or rank count: rounds are not paired (interval of the ratio of medians, U test)"
               : "another config: rounds are not paired (interval of the ratio of medians, U test)";
}

void warn(const result::Run& before, const result::Run& after, RunComparison& comparison) {
  auto& warnings = comparison.warnings;
  if (before.machine.processor != after.machine.processor) {
    warnings.push_back(fmt::format("processors differ: {} and {}", before.machine.processor, after.machine.processor));
  }
  if (before.ranks != after.ranks)
    warnings.push_back(fmt::format("rank counts differ: {} and {}", before.ranks, after.ranks));
  for (const auto& [run, which] : {std::pair(&before, "A"), std::pair(&after, "B")}) {
    for (const std::string& stamp : run->stamps) warnings.push_back(fmt::format("{}: {}", which, stamp));
    if (run->status != "complete") warnings.push_back(fmt::format("{} is not complete: {}", which, run->status));
  }
}

}  // namespace

RunComparison compare(const result::Run& before, const result::Run& after) {
  if (before.kind != after.kind) {
    throw UserError(
        fmt::format("A is a {}, B is a {}: they have nothing in common", printable(before.kind), printable(after.kind)),
        "compare a run with a run, a bench with a bench");
  }
  RunComparison comparison;
  choose_pairing(before, after, comparison);
  warn(before, after, comparison);
  const std::vector<Series> a = series_of(before);
  const std::vector<Series> b = series_of(after);
  const auto named = [](const std::vector<Series>& all, const std::string& name) {
    return std::find_if(all.begin(), all.end(), [&](const Series& s) { return s.name == name; });
  };
  std::vector<double> p_values;
  for (const Series& series : a) {
    const auto other = named(b, series.name);
    if (other == b.end()) {
      comparison.only_before.push_back(series.name);
      continue;
    }
    ComparedPoint point;
    point.name = series.name;
    point.before_s = median(all_times(series));
    point.after_s = median(all_times(*other));
    point.comparison = compare_series(series, *other, comparison.pairing);
    if (point.comparison.rounds == 0) continue;
    p_values.push_back(point.comparison.p_value);
    comparison.points.push_back(std::move(point));
  }
  for (const Series& series : b) {
    if (named(a, series.name) == a.end()) comparison.only_after.push_back(series.name);
  }
  if (comparison.points.empty()) {
    throw UserError("A and B have no measured point in common",
                    fmt::format("A has {}, B has {}", a.empty() ? "none" : printable(a.front().name) + ", ...",
                                b.empty() ? "none" : printable(b.front().name) + ", ..."));
  }
  const std::vector<double> adjusted = holm(p_values);
  for (std::size_t i = 0; i < comparison.points.size(); ++i) {
    comparison.points[i].adjusted_p = adjusted[i];
    comparison.points[i].verdict = verdict(comparison.points[i].comparison, adjusted[i]);
  }
  return comparison;
}

std::vector<const ComparedPoint*> regressions(const RunComparison& comparison, double threshold) {
  std::vector<const ComparedPoint*> slower;
  for (const ComparedPoint& point : comparison.points) {
    if (point.significant() && point.slowdown() > threshold) slower.push_back(&point);
  }
  return slower;
}

std::string describe(const RunComparison& comparison, int width) {
  Table table(
      {{"point", Align::left, 0}, {"A", Align::right, 0}, {"B", Align::right, 0}, {"B against A", Align::left, 0}});
  for (const ComparedPoint& point : comparison.points) {
    table.add({{printable(point.name)}, {format_time(point.before_s)}, {format_time(point.after_s)}, {point.verdict}});
  }
  std::string text = comparison.why + "\n\n" + table.text(Painter(false), width);
  if (!comparison.only_before.empty())
    text += wrapped("only in A: " + printable(join(comparison.only_before, ", ")), width, "", "  ");
  if (!comparison.only_after.empty())
    text += wrapped("only in B: " + printable(join(comparison.only_after, ", ")), width, "", "  ");
  for (const std::string& warning : comparison.warnings) text += wrapped("! " + printable(warning), width, "", "  ");
  return text;
}

}  // namespace ringmaster::report
