// SPDX-License-Identifier: Apache-2.0
#include "experiment/runner.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/activity.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/statistics.hpp"
#include "base/version.hpp"
#include "experiment/agreement.hpp"
#include "experiment/budget.hpp"
#include "experiment/lineup.hpp"
#include "experiment/machine_facts.hpp"
#include "experiment/trainer.hpp"
#include "measure/ceilings.hpp"
#include "measure/clocks.hpp"
#include "measure/cost.hpp"
#include "report/exporter.hpp"
#include "tensor/threads.hpp"

namespace ringmaster::experiment {
namespace {

/// A block's place in the run: warm-up blocks have negative rounds.
using BlockKey = std::pair<int, int>;  // (point, round)

class Runner {
 public:
  Runner(transport::ProcessGroup& world, const Config& config, const RunOptions& options)
      : world_(world), config_(config), options_(options) {}

  result::Run run();

 private:
  void open_store();
  void load_previous();
  void prepare();
  std::unique_ptr<transport::ProcessGroup> limited_world();
  void name_run();
  void describe_run();
  void make_trainers();
  std::string describe_points();
  void catch_up();
  void measure();
  void measure_round(int round);
  void measure_block(int point, int round);
  void check_buckets(int point, result::Block& block);
  void keep(int point, int round, BlockSamples samples);
  void save_checkpoint(int point);
  void finish_points();
  void complete();
  void make_checkpoint_folder();
  void train_and_measure();
  void write_run() {
    if (store_) store_->write(run_);
  }

  bool is_root() const { return world_.rank() == 0; }
  int first_round() const { return -config_.measure.warmup; }
  int blocks_before(int round) const { return round - first_round(); }
  std::string checkpoint_path(int point) const;
  PointTrainer& trainer(int point) { return *trainers_[static_cast<std::size_t>(point)]; }

  transport::ProcessGroup& world_;
  const Config& config_;
  const RunOptions& options_;
  std::unique_ptr<result::Store> store_;  // rank 0
  result::Run run_;                       // complete on rank 0
  Lineup lineup_;
  std::vector<ThreadBudget> budgets_;
  std::vector<std::unique_ptr<PointTrainer>> trainers_;  // by point; null if it does not run
  std::unique_ptr<measure::ClockAlignment> clock_;
  std::set<BlockKey> done_;
  std::set<int> ended_;                                  // points whose PointEnd is stored
  std::set<int> diverged_;                               // points with a loss that is not finite
  std::vector<std::vector<result::TraceEvent>> traces_;  // last block of each point, rank 0
  std::vector<double> gemm_rates_;                       // one a round
  std::string identity_;                                 // of this run's checkpoints
  int attempt_ = 0;
  int blocks_done_ = 0;
};

void Runner::open_store() {
  on_root(world_, [this] {
    store_ =
        std::make_unique<result::Store>(options_.resume ? result::Store::resume(options_.output)
                                                        : result::Store::create(options_.output, options_.overwrite));
    return store_->folder();
  });
}

// A resumed run goes on only with the config that it began with.
void Runner::load_previous() {
  if (!options_.resume) return;
  const std::string known = on_root(world_, [this] {
    run_ = result::read_run(options_.output);
    if (run_.config_hash != config_.hash) {
      throw UserError(fmt::format("{}: the config differs from the one this run began with (hash {} now, {} then)",
                                  options_.output, config_.hash, run_.config_hash),
                      "resume with the same config and --set, or choose another --output");
    }
    if (run_.ranks != world_.size()) {
      throw UserError(
          fmt::format("{}: began with {} ranks, now there are {}", options_.output, run_.ranks, world_.size()),
          fmt::format("start with -np {}", run_.ranks));
    }
    std::string text;
    for (const result::Block& block : run_.blocks) {
      const int round = block.warmup ? block.round + first_round() : block.round;
      text += fmt::format("b {} {} {} {}\n", block.point, round, block.attempt, block.note == "nan" ? 1 : 0);
    }
    for (const result::PointEnd& end : run_.ends) text += fmt::format("e {}\n", end.point);
    return text;
  });
  std::istringstream lines(known);
  for (char kind = 0; lines >> kind;) {
    int point = 0;
    lines >> point;
    if (kind == 'e') {
      ended_.insert(point);
      continue;
    }
    int round = 0;
    int attempt = 0;
    int diverged = 0;
    lines >> round >> attempt >> diverged;
    done_.emplace(point, round);
    attempt_ = std::max(attempt_, attempt + 1);
    if (diverged != 0) diverged_.insert(point);
  }
}

void Runner::prepare() {
  const std::vector<RankPlace> places = gather_places(world_);
  const std::vector<int> units = units_per_rank(places);
  on_every_rank(world_, [this] { lineup_ = line_up(world_, config_); });
  for (const PlannedPoint& planned : lineup_.planned) budgets_.push_back(plan_threads(planned.setup, units));
  clock_ = std::make_unique<measure::ClockAlignment>(world_);
  const result::Machine machine = machine_facts(places);
  if (!budgets_.empty()) tensor::set_threads(budgets_.front().compute);
  const auto planted_link = limited_world();
  const result::Ceilings ceilings =
      measure::measure_ceilings(planted_link ? *planted_link : world_, tensor::gemm_seconds);
  const double event_cost_s = measure::event_cost_s();
  if (!is_root()) return;
  run_.machine = machine;
  run_.ceilings = ceilings;
  run_.event_cost_ns = event_cost_s * 1e9;
  describe_run();
}

// A planted slow link is the link of this run: its ceiling is measured through it.
std::unique_ptr<transport::ProcessGroup> Runner::limited_world() {
  for (const int point : lineup_.running) {
    const transport::LinkLimit& link = lineup_.planned[static_cast<std::size_t>(point)].setup.link;
    if (link.latency_s > 0 || link.bytes_per_s > 0) return transport::limit_links(world_, link);
  }
  return nullptr;
}

void Runner::name_run() {
  run_.kind = "run";
  run_.name = config_.name;
  run_.status = "running";
  if (run_.started.empty()) run_.started = utc_now();
  run_.ended.clear();
  run_.revision = revision();
  run_.config_text = config_.resolved;
  run_.config_hash = config_.hash;
  run_.arguments = options_.arguments;
  run_.ranks = world_.size();
  run_.device = config_.device;
}

void Runner::describe_run() {
  run_.clock_residual_us = clock_->residual_s() * 1e6;
  std::set<std::string> stamps(run_.stamps.begin(), run_.stamps.end());
  for (const std::string& stamp : timing_stamps(run_.machine, options_.ranks_per_node)) stamps.insert(stamp);
  for (const int point : lineup_.running) {
    const std::string stamp = budgets_[static_cast<std::size_t>(point)].stamp();
    if (!stamp.empty()) stamps.insert(stamp);
    if (planted(lineup_.planned[static_cast<std::size_t>(point)].setup)) {
      stamps.insert("planted faults (config section plant): not a performance result");
    }
  }
  run_.stamps.assign(stamps.begin(), stamps.end());
}

void Runner::make_trainers() {
  trainers_.resize(lineup_.planned.size());
  traces_.resize(lineup_.planned.size());
  for (const int point : lineup_.running) {
    const auto i = static_cast<std::size_t>(point);
    on_every_rank(world_,
                  [&] { trainers_[i] = std::make_unique<PointTrainer>(world_, lineup_.planned[i], budgets_[i]); });
    trainers_[i]->describe(lineup_.points[i]);
  }
  identity_ = on_root(world_, [this] { return describe_points(); });
}

// Rank 0: what each point is, and whose a checkpoint is: of this run, with its config, ranks and data.
std::string Runner::describe_points() {
  std::vector<result::Point> points = lineup_.points;
  std::string identity = fmt::format("{} of {}, {} ranks", config_.hash, run_.started, world_.size());
  for (const int number : lineup_.running) {
    const auto i = static_cast<std::size_t>(number);
    const data::Dataset* dataset = trainer(number).dataset();
    if (dataset == nullptr) continue;
    points[i].data_hash = dataset->fingerprint();
    const std::string before = i < run_.points.size() ? run_.points[i].data_hash : std::string();
    if (!before.empty() && before != points[i].data_hash) {
      throw UserError(
          fmt::format("{}: the data of {} differ from those that this run began with", options_.output, points[i].name),
          "put them back as they were, or choose another --output");
    }
    identity += ' ' + points[i].data_hash;
    const double entropy = dataset->unigram_entropy();
    if (std::isfinite(entropy)) points[i].unigram_entropy = entropy;
    if (std::isfinite(entropy) && run_.unigram_entropy == 0) {
      run_.unigram_entropy = entropy;
      run_.data = dataset->describe();
    }
    if (run_.data.empty()) run_.data = dataset->describe();
  }
  run_.points = std::move(points);
  return identity;
}

std::string Runner::checkpoint_path(int point) const {
  return fmt::format("{}/{}-point{}-rank{}.checkpoint", config_.checkpoint.folder, config_.name, point, world_.rank());
}

// Points that lost blocks train on from where they stood: from a checkpoint if every rank has the same one, then by
// repeating the missing steps without measuring. The loss curve of a resumed run is the one of an unbroken run.
void Runner::catch_up() {
  if (done_.empty()) return;
  for (const int point : lineup_.running) {
    const auto blocks = std::count_if(done_.begin(), done_.end(), [&](const BlockKey& b) { return b.first == point; });
    const std::int64_t target = blocks * config_.measure.steps;
    if (ended_.count(point) != 0 || target == 0) continue;
    if (!config_.checkpoint.folder.empty()) {
      parallel::Checkpoint checkpoint;
      std::int64_t step = -1;
      try {
        checkpoint = parallel::read_checkpoint(checkpoint_path(point));
        if (checkpoint.identity == identity_ && checkpoint.step <= target) step = checkpoint.step;
      } catch (const UserError&) {  // none, or a damaged one: the steps are repeated instead
        step = -1;
      }
      const std::vector<std::int64_t> steps = transport::gather_values(world_, step);
      const bool same = std::all_of(steps.begin(), steps.end(), [&](std::int64_t s) { return s == step; });
      if (same && step > 0) trainer(point).restore(checkpoint);
    }
    const std::int64_t missing = target - trainer(point).steps_done();
    if (options_.progress && is_root()) {
      options_.progress(
          blocks_done_, 0,
          fmt::format("{}: repeating {} steps", lineup_.planned[static_cast<std::size_t>(point)].name, missing));
    }
    trainer(point).catch_up(static_cast<int>(missing));
  }
}

void Runner::save_checkpoint(int point) {
  const CheckpointOptions& options = config_.checkpoint;
  if (options.folder.empty() || options.every <= 0) return;
  const std::int64_t now = trainer(point).steps_done();
  if (now / options.every == (now - config_.measure.steps) / options.every) return;
  parallel::Checkpoint checkpoint = trainer(point).save();
  checkpoint.identity = identity_;
  parallel::write_checkpoint(checkpoint_path(point), checkpoint);
}

void Runner::keep(int point, int round, BlockSamples samples) {
  samples.block.point = point;
  samples.block.warmup = round < 0;
  samples.block.round = round < 0 ? blocks_before(round) : round;
  samples.block.attempt = attempt_;
  if (!samples.finite) diverged_.insert(point);
  if (!is_root()) return;
  store_->append(samples.block);
  run_.blocks.push_back(std::move(samples.block));
  traces_[static_cast<std::size_t>(point)] = std::move(samples.trace);
}

// In checked steps every bucket's result must have the same bytes on all ranks.
void Runner::check_buckets(int point, result::Block& block) {
  const int every = config_.measure.check_every;
  const std::int64_t now = trainer(point).steps_done();
  if (every <= 0 || now / every == (now - config_.measure.steps) / every) return;
  const int bucket = trainer(point).differing_bucket();
  if (bucket < 0) return;
  block.note = fmt::format("ranks hold different sums of bucket {} after step {}", bucket, now - 1);
  log(LogLevel::error, fmt::format("{}: {}", lineup_.planned[static_cast<std::size_t>(point)].name, block.note));
}

void Runner::measure_block(int point, int round) {
  const std::string& name = lineup_.planned[static_cast<std::size_t>(point)].name;
  activity().point.store(lasting(name), std::memory_order_relaxed);
  BlockSamples samples = trainer(point).run_block(config_.measure.steps, *clock_);
  check_buckets(point, samples.block);
  keep(point, round, std::move(samples));
  save_checkpoint(point);
  ++blocks_done_;
  if (options_.progress && is_root()) {
    const int total = static_cast<int>(lineup_.running.size()) * (config_.measure.warmup + config_.measure.rounds);
    options_.progress(blocks_done_ + static_cast<int>(done_.size()), total, name);
  }
}

// Every point once, in an order of this round's own that all ranks know.
void Runner::measure_round(int round) {
  const auto n = static_cast<std::int64_t>(lineup_.running.size());
  const auto label = static_cast<std::uint64_t>(round - first_round());
  for (const std::int64_t i : Random(mix(config_.seed, label)).permutation(n)) {
    const int point = lineup_.running[static_cast<std::size_t>(i)];
    if (done_.count({point, round}) != 0 || diverged_.count(point) != 0 || ended_.count(point) != 0) continue;
    measure_block(point, round);
  }
}

void Runner::measure() {
  for (int round = first_round(); round < config_.measure.rounds; ++round) {
    measure_round(round);
    clock_->refresh(world_);
    activity().enter("measuring the GEMM rate");
    tensor::set_threads(budgets_.front().compute);
    gemm_rates_.push_back(measure::measure_gemm(world_, tensor::gemm_seconds));
  }
}

void Runner::finish_points() {
  for (const int point : lineup_.running) {
    if (ended_.count(point) != 0) continue;
    const std::string& name = lineup_.planned[static_cast<std::size_t>(point)].name;
    activity().point.store(lasting(name), std::memory_order_relaxed);
    activity().enter("held-out loss");
    result::PointEnd end = trainer(point).finish(config_.measure.held_out);
    end.point = point;
    if (!is_root()) continue;
    for (const result::Block& block : run_.blocks) {
      if (block.point == point && !block.loss.empty()) end.final_loss = block.loss.back();
    }
    store_->append(end);
    run_.ends.push_back(end);
  }
}

void Runner::complete() {
  if (!is_root()) return;
  run_.status = "complete";
  run_.ended = utc_now();
  run_.clock_residual_us = clock_->residual_s() * 1e6;
  if (!gemm_rates_.empty()) run_.ceilings.gemm_gflop_per_s = median(gemm_rates_);
  for (const auto& trace : traces_) run_.trace.insert(run_.trace.end(), trace.begin(), trace.end());
  report::write_exports(run_, *store_);
  write_run();
}

// Each rank for itself: nodes may have file systems of their own.
void Runner::make_checkpoint_folder() {
  if (config_.checkpoint.folder.empty()) return;
  on_every_rank(world_, [this] {
    std::error_code error;
    std::filesystem::create_directories(config_.checkpoint.folder, error);
    const bool usable = !error && access(config_.checkpoint.folder.c_str(), W_OK | X_OK) == 0;
    if (usable) return;
    const std::string reason = error ? error.message() : std::strerror(errno);
    throw UserError(fmt::format("train.checkpoint.folder: '{}' cannot be used: {}", config_.checkpoint.folder, reason),
                    "a folder that can be written; relative paths stand from where mpirun was started");
  });
}

void Runner::train_and_measure() {
  make_checkpoint_folder();
  prepare();
  write_run();
  make_trainers();
  write_run();
  catch_up();
  measure();
  finish_points();
  complete();
}

// What was wrong from the start is not "running" for ever.
result::Run Runner::run() {
  open_store();
  load_previous();
  name_run();
  try {
    train_and_measure();
  } catch (const AgreedError&) {
    run_.status = run_.blocks.empty() ? "failed" : "interrupted";
    run_.ended = utc_now();
    write_run();
    throw;
  }
  return std::move(run_);
}

bool exists(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0;
}

}  // namespace

bool planted(const Setup& setup) {
  const parallel::Plant& plant = setup.train.plant;
  return plant.sleep_s > 0 || plant.compute_factor != 1 || setup.loader.planted_delay_s > 0 ||
         setup.link.latency_s > 0 || setup.link.bytes_per_s > 0;
}

std::string default_output(const std::string& name) {
  const std::string base = "results/" + name;
  std::string folder = base;
  for (int i = 2; exists(folder); ++i) folder = fmt::format("{}-{}", base, i);
  return folder;
}

result::Run run(transport::ProcessGroup& world, const Config& config, const RunOptions& options) {
  return Runner(world, config, options).run();
}

}  // namespace ringmaster::experiment
