// SPDX-License-Identifier: Apache-2.0
// `ringmaster bench`: allreduces alone, with the flags and columns of nccl-tests.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "base/error.hpp"
#include "base/spec.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/command.hpp"
#include "cli/commands/mpi/session.hpp"
#include "cli/outputs.hpp"
#include "cli/program.hpp"
#include "cli/progress.hpp"
#include "collective/bench.hpp"
#include "experiment/agreement.hpp"
#include "experiment/budget.hpp"
#include "experiment/config.hpp"
#include "experiment/machine_facts.hpp"
#include "experiment/runner.hpp"
#include "measure/ceilings.hpp"
#include "measure/clocks.hpp"
#include "measure/cost.hpp"
#include "report/exporter.hpp"
#include "result/store.hpp"
#include "tensor/threads.hpp"

namespace ringmaster::cli {
namespace {

struct Options {
  std::string begin = "32M";
  std::string end = "32M";
  std::string step;
  std::int64_t factor = 2;
  int iterations = 20;
  int warmup = 5;
  int check = 1;
  int rounds = 15;
  std::string type = "float";
  std::string reduction = "sum";
  std::string memory = "registered";
  std::vector<std::string> variants{"library,ring,recursive-doubling,rabenseifner,tree,direct"};
  std::string segment;
  std::string against;
  std::string seed = "1";
  std::string output;
  bool overwrite = false;
  bool check_only = false;
  int ranks_per_node = 0;
  std::string timeout = "60";
  Outputs outputs;
};

std::int64_t size_argument(const char* flag, const std::string& text, std::int64_t lowest) {
  const auto size = parse_size(text);
  if (!size || *size < lowest || *size > (std::int64_t{1} << 40)) {
    throw UserError(fmt::format("{} expects a size from {} to 1T, got '{}'", flag, lowest, text),
                    "such as 4096, 64K or 1G");
  }
  return *size;
}

void require_at_least(const char* flag, std::int64_t value, std::int64_t lowest) {
  if (value < lowest || value > 1'000'000'000) {
    throw UserError(fmt::format("{} expects a number from {} to 1000000000, got {}", flag, lowest, value),
                    "ringmaster bench --help shows the defaults");
  }
}

ParameterValue number_argument(const ParameterSpec& spec, const std::string& text) {
  std::string problem;
  const auto value = parse_parameter(spec, text, problem);
  if (!value) throw UserError(fmt::format("{} {}", spec.name, problem), describe(spec));
  return *value;
}

std::uint64_t seed_of(const Options& options) {
  const ParameterSpec spec{"--seed", ParameterType::integer, "", "1", 0, 9.0e15, ""};
  return static_cast<std::uint64_t>(std::get<std::int64_t>(number_argument(spec, options.seed)));
}

double timeout_of(const Options& options) {
  const ParameterSpec spec{"--timeout", ParameterType::real, "s", "60", 0.1, 1e6, ""};
  return std::get<double>(number_argument(spec, options.timeout));
}

/// Commas outside of brackets divide. An empty name stays, to be refused: a variant may have been forgotten.
std::vector<std::string> split_variants(const std::vector<std::string>& given) {
  std::vector<std::string> names;
  for (const std::string& list : given) {
    names.emplace_back();
    int depth = 0;
    for (const char c : list) {
      if (c == '(') ++depth;
      if (c == ')') --depth;
      if (c == ',' && depth == 0) {
        names.emplace_back();
      } else {
        names.back() += c;
      }
    }
  }
  return names;
}

/// Each row that the library has, unless it is there.
void add_library(std::vector<collective::AllreduceChoice>& chosen) {
  for (const collective::AllreduceChoice& choice : collective::every_allreduce()) {
    if (!collective::require_variant(choice.algorithm).is_library) continue;
    const bool there = std::any_of(chosen.begin(), chosen.end(), [&](const collective::AllreduceChoice& other) {
      return collective::label(other) == collective::label(choice);
    });
    if (!there) chosen.push_back(choice);
  }
}

std::vector<collective::AllreduceChoice> chosen_variants(const Options& options) {
  std::vector<collective::AllreduceChoice> chosen;
  for (const std::string& text : split_variants(options.variants)) {
    if (text == "all") {
      const auto every = collective::every_allreduce();
      chosen.insert(chosen.end(), every.begin(), every.end());
    } else {
      chosen.push_back(experiment::parse_collective(text));
    }
  }
  if (!options.against.empty()) add_library(chosen);
  if (options.segment.empty()) return chosen;
  const std::int64_t segment = size_argument("--segment", options.segment, 64);
  for (collective::AllreduceChoice& choice : chosen) choice.segment_bytes = segment;
  return chosen;
}

template <class Values>
std::vector<std::string> names_of(const Values& values) {
  std::vector<std::string> names;
  for (const auto value : values) names.emplace_back(name_of(value));
  return names;
}

/// Everything that can be wrong is said here, before MPI starts.
collective::BenchOptions checked(const Options& options) {
  collective::BenchOptions bench;
  const auto type = data_type_of(options.type);
  if (!type)
    throw UserError("--type: unknown type '" + options.type + "'", suggestion(options.type, names_of(data_types)));
  const auto reduction = reduction_of(options.reduction);
  if (!reduction) {
    throw UserError("--op: unknown operation '" + options.reduction + "'",
                    suggestion(options.reduction, names_of(reductions)));
  }
  if (!options.against.empty() && options.against != "mpi") {
    throw UserError("--against: unknown opponent '" + options.against + "'", suggestion(options.against, {"mpi"}));
  }
  if (options.memory != "registered" && options.memory != "own") {
    throw UserError("--memory: unknown place '" + options.memory + "'",
                    suggestion(options.memory, {"registered", "own"}));
  }
  bench.memory = options.memory == "own" ? collective::BenchMemory::own : collective::BenchMemory::registered;
  bench.type = *type;
  bench.reduction = *reduction;
  const std::int64_t begin = size_argument("-b", options.begin, 1);
  const std::int64_t end = size_argument("-e", options.end, 1);
  const std::int64_t step = options.step.empty() ? 0 : size_argument("-i", options.step, 1);
  if (end < begin) {
    throw UserError(fmt::format("-e {} is smaller than -b {}", options.end, options.begin), "sizes run from -b to -e");
  }
  require_at_least("-f", options.factor, 2);
  require_at_least("-n", options.iterations, 1);
  require_at_least("-w", options.warmup, 0);
  require_at_least("--rounds", options.rounds, 1);
  bench.sizes = collective::bench_sizes(begin, end, step, options.factor, bench.type);
  if (bench.sizes.size() > collective::most_bench_sizes) {
    throw UserError(fmt::format("more than {} sizes are too many", collective::most_bench_sizes), "a larger -i, or -f");
  }
  bench.variants = chosen_variants(options);
  bench.iterations = options.iterations;
  bench.warmup = options.warmup;
  bench.rounds = options.rounds;
  bench.check = options.check != 0;
  bench.seed = seed_of(options);
  return bench;
}

/// What is known before the first size: who, where, with what.
result::Run describe(transport::ProcessGroup& world, const measure::ClockAlignment& clock, int ranks_per_node) {
  const std::vector<experiment::RankPlace> places = experiment::gather_places(world);
  result::Run run;
  run.kind = "bench";
  run.name = "bench";
  run.status = "running";
  run.started = experiment::utc_now();
  run.revision = revision();
  run.arguments = arguments();
  run.ranks = world.size();
  run.machine = experiment::machine_facts(places);
  tensor::set_threads(1);
  run.ceilings = measure::measure_ceilings(world, tensor::gemm_seconds);
  run.event_cost_ns = measure::event_cost_s() * 1e9;
  run.clock_residual_us = clock.residual_s() * 1e6;
  run.stamps = experiment::timing_stamps(run.machine, ranks_per_node);
  for (const int units : experiment::units_per_rank(places)) {
    if (units >= 1) continue;
    run.stamps.emplace_back("oversubscribed: more ranks than processing units: not a performance result");
    break;
  }
  return run;
}

int bench_in_world(transport::ProcessGroup& world, const Options& options) {
  collective::BenchOptions bench = checked(options);
  const measure::ClockAlignment clock(world);
  result::Run run = describe(world, clock, options.ranks_per_node);
  bool crowded = false;
  for (const std::string& stamp : run.stamps) crowded = crowded || stamp.rfind("oversubscribed", 0) == 0;
  bench.waiting = crowded ? collective::Waiting::yield : collective::Waiting::spin;
  bench.to_common = [&clock](Nanoseconds local) { return clock.to_common(local); };
  bench.clock_residual_s = clock.residual_s();
  const bool root = world.rank() == 0;
  std::unique_ptr<result::Store> store;
  if (!options.output.empty()) {
    experiment::on_root(world, [&] {
      store = std::make_unique<result::Store>(result::Store::create(options.output, options.overwrite));
      store->write(run);
      return store->folder();
    });
  }
  set_interrupt_folder(options.output);
  {
    std::unique_ptr<Progress> progress = root ? std::make_unique<Progress>() : nullptr;
    bench.progress = [&](int done, int total, const std::string& what) {
      if (progress) progress->show(done, total, what);
    };
    collective::bench(world, bench, [&](const result::BenchRow& row) {
      if (!root) return;
      if (store) store->append(row);
      run.rows.push_back(row);
    });
  }
  set_interrupt_folder({});
  if (!root) return success;
  run.status = "complete";
  run.ended = experiment::utc_now();
  if (store) {
    report::write_exports(run, *store);
    store->write(run);
  }
  write_outputs(run, options.outputs);
  bool wrong = false;
  for (const result::BenchRow& row : run.rows) wrong = wrong || row.out_of_place.wrong > 0 || row.in_place.wrong > 0;
  return wrong ? failure : success;
}

int bench(const Options& options) {
  checked(options);
  check_outputs(options.outputs);
  const double timeout_s = timeout_of(options);
  if (options.check_only) return success;
  return with_world({timeout_s, options.ranks_per_node}, [&](transport::ProcessGroup& world, measure::Watchdog&) {
    const int code = bench_in_world(world, options);
    return std::stoi(transport::broadcast_text(world, std::to_string(code)));
  });
}

std::function<int()> install(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("-b,--begin", options->begin, "smallest size in bytes (K, M, G)")->capture_default_str();
  app.add_option("-e,--end", options->end, "largest size")->capture_default_str();
  app.add_option("-i,--step", options->step, "add this to get the next size");
  app.add_option("-f,--factor", options->factor, "multiply by this to get the next size")->capture_default_str();
  app.add_option("-n,--iterations", options->iterations, "calls back to back in a sample")->capture_default_str();
  app.add_option("-w,--warmup", options->warmup, "calls before the first sample of a size")->capture_default_str();
  app.add_option("-c,--check", options->check, "check the sums (0: do not)")->capture_default_str();
  app.add_option("--rounds", options->rounds, "samples a variant, in turns")->capture_default_str();
  app.add_option("--type,-d", options->type, join(names_of(data_types), ", "))->capture_default_str();
  app.add_option("--op,-o", options->reduction, join(names_of(reductions), ", "))->capture_default_str();
  app.add_option("--variants", options->variants, "comma separated, or all; see ringmaster list collectives");
  app.add_option("--against", options->against, "mpi: every algorithm of the library's, and the best against the best");
  app.add_option("--memory", options->memory, "where vectors lie: registered (shared by the node's ranks) or own")
      ->capture_default_str();
  app.add_option("--segment", options->segment, "segment size of ringmaster's schedules (default: by cache)");
  app.add_option("--seed", options->seed, "of the order in which variants take turns")->capture_default_str();
  app.add_option("--timeout", options->timeout, "seconds of standstill that end the job")->capture_default_str();
  app.add_option("--output", options->output, "keep everything in this folder");
  app.add_flag("--overwrite", options->overwrite, "replace a finished run in that folder");
  app.add_flag("--check-only", options->check_only, "only check the arguments");
  add_node_option(app, options->ranks_per_node);
  add_output_options(app, options->outputs);
  return [options] { return bench(*options); };
}

}  // namespace

const Command& bench_command() {
  static const Command command{"bench", "allreduces alone, in nccl-tests' columns (start it with mpirun)", install};
  return command;
}

}  // namespace ringmaster::cli
