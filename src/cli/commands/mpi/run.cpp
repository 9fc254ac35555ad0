// SPDX-License-Identifier: Apache-2.0
// `ringmaster run CONFIG`: trains, measures and explains all points of a config in one mpirun.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/commands/mpi/session.hpp"
#include "cli/outputs.hpp"
#include "cli/program.hpp"
#include "cli/progress.hpp"
#include "experiment/agreement.hpp"
#include "experiment/assertions.hpp"
#include "experiment/runner.hpp"

namespace ringmaster::cli {
namespace {

struct Options {
  std::string config;
  std::vector<std::string> overrides;
  std::string output;
  bool overwrite = false;
  bool resume = false;
  int ranks_per_node = 0;
  bool check_only = false;
  Outputs outputs;
};

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw UserError(path + ": cannot be read", "is the path right?");
  return text.str();
}

/// Rank 0 reads, everybody parses the same text.
experiment::Config shared_config(transport::ProcessGroup& world, const Options& options) {
  const std::string text = experiment::on_root(world, [&] {
    experiment::load_config(options.config, options.overrides);  // complaints about the file itself
    return read_text(options.config);
  });
  experiment::Config config;
  experiment::on_every_rank(world, [&] { config = experiment::parse_config(text, options.config, options.overrides); });
  experiment::require_equal(world, "the resolved config", config.hash, "is every node of the same kind?");
  return config;
}

std::string choose_output(const Options& options, const experiment::Config& config) {
  if (!options.output.empty()) return options.output;
  return options.resume ? "results/" + config.name : experiment::default_output(config.name);
}

int report_assertions(const result::Run& run, const experiment::Config& config) {
  int code = success;
  for (const experiment::AssertionResult& result : experiment::check_assertions(run, config.assertions)) {
    fmt::print(stderr, "assert {}: {}\n", result.holds ? "holds" : "FAILS", printable(result.text));
    if (!result.holds) code = threshold;
  }
  return code;
}

int run_in_world(transport::ProcessGroup& world, measure::Watchdog& watchdog, const Options& options) {
  const experiment::Config config = shared_config(world, options);
  watchdog.set_timeout(config.measure.timeout_s);
  experiment::RunOptions running;
  running.output = experiment::on_root(world, [&] { return choose_output(options, config); });
  running.overwrite = options.overwrite;
  running.resume = options.resume;
  running.arguments = arguments();
  running.ranks_per_node = options.ranks_per_node;
  set_interrupt_folder(running.output);
  result::Run run;
  {
    Progress progress;
    running.progress = [&progress](int done, int total, const std::string& what) { progress.show(done, total, what); };
    run = experiment::run(world, config, running);
  }
  set_interrupt_folder({});
  if (world.rank() != 0) return success;
  write_outputs(run, options.outputs);
  if (!options.outputs.quiet && !standard_output_taken(options.outputs)) {
    fmt::print(
        "\nfiles: {0}/run.json, samples.jsonl, summary.csv, summary.json, report.html, trace.json\n"
        "again: ringmaster report {0}\n",
        running.output);
  }
  return report_assertions(run, config);
}

int run(const Options& options) {
  check_outputs(options.outputs);
  if (options.check_only) {
    experiment::load_config(options.config, options.overrides);
    return success;
  }
  return with_world({60, options.ranks_per_node}, [&](transport::ProcessGroup& world, measure::Watchdog& watchdog) {
    const int code = run_in_world(world, watchdog, options);
    return std::stoi(transport::broadcast_text(world, std::to_string(code)));
  });
}

std::function<int()> install(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("config", options->config, "the YAML file")->required();
  app.add_option("--set", options->overrides, "dotted.key=value, over the file; may be repeated");
  app.add_option("--output", options->output, "the run's folder (default: results/NAME)");
  app.add_flag("--overwrite", options->overwrite, "replace a finished run in that folder");
  app.add_flag("--resume", options->resume, "go on with an interrupted run in that folder");
  app.add_flag("--check-only", options->check_only, "only check config and arguments");
  add_node_option(app, options->ranks_per_node);
  add_output_options(app, options->outputs);
  return [options] { return run(*options); };
}

}  // namespace

const Command& run_command() {
  static const Command command{"run", "train, measure and explain a config (start it with mpirun)", install};
  return command;
}

}  // namespace ringmaster::cli
