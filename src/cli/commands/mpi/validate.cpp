// SPDX-License-Identifier: Apache-2.0
// `ringmaster validate CONFIG`: every mistake of a config at once, or what it will run.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/text.hpp"
#include "cli/command.hpp"
#include "experiment/config.hpp"

namespace ringmaster::cli {
namespace {

struct Options {
  std::string config;
  std::vector<std::string> overrides;
  bool resolved = false;
};

int validate(const Options& options) {
  const experiment::Config config = experiment::load_config(options.config, options.overrides);
  if (options.resolved) {
    fmt::print("{}", config.resolved);
    return success;
  }
  fmt::print("{}: fine: {} points, {} rounds of {} steps\n", options.config, config.points.size(),
             config.measure.rounds, config.measure.steps);
  for (const experiment::PlannedPoint& point : config.points)
    fmt::print("  {:8}  {}\n", point.role, printable(point.name));
  return success;
}

std::function<int()> install(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("config", options->config, "the YAML file")->required();
  app.add_option("--set", options->overrides, "dotted.key=value, over the file");
  app.add_flag("--resolved", options->resolved, "print the config with every default filled in");
  return [options] { return validate(*options); };
}

}  // namespace

const Command& validate_command() {
  static const Command command{"validate", "check a config and show what it will run", install};
  return command;
}

}  // namespace ringmaster::cli
