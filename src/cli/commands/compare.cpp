// SPDX-License-Identifier: Apache-2.0
// `ringmaster compare A B`: is the second run faster or slower than the first, point by point? With --fail-above a
// regression gate.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "report/compare.hpp"
#include "result/store.hpp"

namespace ringmaster::cli {
namespace {

struct Options {
  std::string before;
  std::string after;
  std::string fail_above;
  std::string json;
};

/// "5%" or "0.05". A bare 5 would be 500 %: hardly what was meant.
double parse_threshold(const std::string& text) {
  std::size_t used = 0;
  double value = -1;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  const std::string unit = used > 0 ? text.substr(used) : "?";
  if (unit == "%") value /= 100;
  if ((!unit.empty() && unit != "%") || !(value >= 0) || !(value < 1e6)) {
    throw UserError("--fail-above expects a share, got '" + text + "'", "such as 5% or 0.05");
  }
  if (unit.empty() && value > 1) {
    throw UserError(
        "--fail-above " + text + " is a share without a % sign",
        fmt::format("{0}%, or {1:g} for {0} percent; {2:g}% if so many are meant", text, value / 100, value * 100));
  }
  return value;
}

nlohmann::ordered_json to_json(const report::RunComparison& comparison) {
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (const report::ComparedPoint& point : comparison.points) {
    points.push_back({{"name", point.name},
                      {"before_us", point.before_s * 1e6},
                      {"after_us", point.after_s * 1e6},
                      {"ratio", point.comparison.ratio},
                      {"ratio_low", point.comparison.interval.low},
                      {"ratio_high", point.comparison.interval.high},
                      {"p_value", point.adjusted_p},
                      {"rounds", point.comparison.rounds},
                      {"verdict", point.verdict}});
  }
  return {{"schema_version", result::schema_version},
          {"paired", comparison.pairing == report::Pairing::paired},
          {"why", comparison.why},
          {"points", points},
          {"only_before", comparison.only_before},
          {"only_after", comparison.only_after},
          {"warnings", comparison.warnings}};
}

void write_json(const report::RunComparison& comparison, const std::string& path) {
  const std::string text = to_json(comparison).dump(2) + "\n";
  if (path == "-") {
    fmt::print("{}", text);
    return;
  }
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw_os_error("write", path);
}

int compare(const Options& options) {
  const double threshold_share = options.fail_above.empty() ? -1 : parse_threshold(options.fail_above);
  const result::Run before = result::read_run(options.before);
  const result::Run after = result::read_run(options.after);
  const report::RunComparison comparison = report::compare(before, after);
  if (options.json != "-") fmt::print("{}\n", report::describe(comparison));
  if (!options.json.empty()) write_json(comparison, options.json);
  if (threshold_share < 0) return success;
  const auto slower = report::regressions(comparison, threshold_share);
  for (const report::ComparedPoint* point : slower) {
    fmt::print(stderr, "slower than {} allows: {}: {}\n", options.fail_above, printable(point->name), point->verdict);
  }
  return slower.empty() ? success : threshold;
}

std::function<int()> install(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("before", options->before, "a run's folder")->required();
  app.add_option("after", options->after, "another's: the verdict is about this one")->required();
  app.add_option("--fail-above", options->fail_above, "exit with 3 if a point is slower by more than this (5%)");
  app.add_option("--json", options->json, "as JSON to this file; - is the standard output");
  return [options] { return compare(*options); };
}

}  // namespace

const Command& compare_command() {
  static const Command command{"compare", "is the second of two runs faster or slower?", install};
  return command;
}

}  // namespace ringmaster::cli
