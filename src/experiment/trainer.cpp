// SPDX-License-Identifier: Apache-2.0
#include "experiment/trainer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "account/accounts.hpp"
#include "base/activity.hpp"
#include "base/text.hpp"
#include "experiment/block.hpp"
#include "measure/cost.hpp"
#include "tensor/threads.hpp"

namespace ringmaster::experiment {
namespace {

data::SampleShape sample_shape(const model::InputShape& shape) {
  return {shape.tokens, shape.length, shape.vocabulary, shape.outputs};
}

/// A step as seen from outside: all that is known of one while the recorder is off.
Event bare_step(Nanoseconds begin, std::int32_t step) {
  return {begin, now_ns(), 0, step, -1, Label::step, EventLane::main};
}

/// A library may run one thing for long buckets and another for short ones.
std::string what_runs(const parallel::DataParallel& trainer) {
  std::vector<std::string> texts;
  for (const parallel::BucketInfo& bucket : trainer.buckets()) {
    std::string text = trainer.allreduce().what_runs(bucket.elements * size_of(DataType::float32));
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
  }
  return join(texts, "; other buckets: ");
}

}  // namespace

struct PointTrainer::Impl {
  Impl(transport::ProcessGroup& world_, const PlannedPoint& planned_, const ThreadBudget& budget_)
      : world(world_), planned(planned_), budget(budget_) {}

  transport::ProcessGroup& world;
  PlannedPoint planned;
  ThreadBudget budget;
  int ranks = 0;                                     // that take part
  std::unique_ptr<transport::ProcessGroup> group;    // null for ranks that take no part
  std::unique_ptr<transport::ProcessGroup> limited;  // over group, where a slow link is planted
  Recorder main;
  Recorder engine;
  std::unique_ptr<data::Dataset> dataset;
  std::unique_ptr<data::Loader> loader;
  std::unique_ptr<parallel::DataParallel> trainer;

  bool takes_part() const { return trainer != nullptr; }
  bool communicates() const { return planned.setup.train.communication == parallel::Communication::on; }
  transport::ProcessGroup& wire() { return limited ? *limited : *group; }
  void build();
};

void PointTrainer::Impl::build() {
  const Setup& setup = planned.setup;
  std::unique_ptr<model::Model<float>> model = model::make_model(setup.model);
  dataset = data::make_dataset(setup.data, sample_shape(model->input()));
  data::LoaderOptions loading = setup.loader;
  main.set_enabled(planned.role != "unrecorded");
  engine.set_enabled(planned.role != "unrecorded");
  loading.rank = group->rank();
  loading.ranks = group->size();
  loading.threads = budget.loaders;
  loading.batch = setup.train.batch;
  loader = std::make_unique<data::Loader>(*dataset, loading);
  parallel::DataParallelOptions options = setup.train;
  options.engine.mode = budget.engine;
  options.engine.waiting = budget.waiting;
  options.engine.recorder = &engine;
  trainer = std::make_unique<parallel::DataParallel>(wire(), std::move(model), options, main);
}

PointTrainer::PointTrainer(transport::ProcessGroup& world, const PlannedPoint& planned, const ThreadBudget& budget)
    : impl_(std::make_unique<Impl>(world, planned, budget)) {
  impl_->ranks = planned.setup.ranks > 0 ? std::min(planned.setup.ranks, world.size()) : world.size();
  impl_->group = world.split(world.rank() < impl_->ranks ? 0 : -1, world.rank());
  if (!impl_->group) return;
  const transport::LinkLimit& link = planned.setup.link;
  if (link.latency_s > 0 || link.bytes_per_s > 0) impl_->limited = transport::limit_links(*impl_->group, link);
  impl_->build();
}

PointTrainer::~PointTrainer() = default;

const data::Dataset* PointTrainer::dataset() const { return impl_->dataset.get(); }

void PointTrainer::describe(result::Point& point) const {
  point.ranks = impl_->ranks;
  if (!impl_->takes_part()) return;  // rank 0 always does
  const parallel::DataParallel& trainer = *impl_->trainer;
  const Setup& setup = impl_->planned.setup;
  const bool silent = setup.train.communication == parallel::Communication::none || impl_->ranks == 1;
  point.what_runs = silent ? "no communication" : what_runs(trainer);
  point.parameters = trainer.parameter_count();
  point.buckets = static_cast<int>(trainer.buckets().size());
  for (const parallel::BucketInfo& bucket : trainer.buckets()) {
    const std::int64_t bytes = bucket.elements * 4;
    point.gradient_bytes += bytes;
    if (silent) continue;
    const collective::Allreduce::Cost cost = trainer.allreduce().cost(bytes);
    point.messages_per_step += cost.messages;
    point.wire_bytes_per_step += cost.wire_bytes;
  }
  const double samples = static_cast<double>(setup.train.batch) * setup.train.micro_batches;
  point.flops_per_step = trainer.model().flops_per_sample() * samples;
  point.samples_per_step = setup.train.batch * setup.train.micro_batches * impl_->ranks;
  point.overlap = setup.train.overlap && !silent;
  point.engine = impl_->budget.engine == collective::EngineMode::own_thread ? "thread" : "inline";
}

BlockSamples PointTrainer::run_block(int steps, const measure::ClockAlignment& clock) {
  Impl& impl = *impl_;
  activity().enter("a block's start");
  impl.main.clear();
  impl.engine.clear();
  std::vector<double> losses;
  losses.reserve(static_cast<std::size_t>(steps));
  std::vector<Event> bare(impl.takes_part() ? static_cast<std::size_t>(steps) : 0);
  if (impl.takes_part()) tensor::set_threads(impl.budget.compute);
  const std::int64_t switches = measure::involuntary_switches();
  impl.world.barrier();
  if (impl.takes_part()) {
    for (int i = 0; i < steps; ++i) {
      const Nanoseconds begin = now_ns();
      losses.push_back(impl.trainer->step(*impl.loader).loss);
      bare[static_cast<std::size_t>(i)] = bare_step(begin, static_cast<std::int32_t>(steps_done_) + i);
    }
    impl.loader->pause();
  }
  RankBlock mine;
  mine.first_step = static_cast<std::int32_t>(steps_done_);
  mine.main = impl.main.enabled() ? impl.main.events() : std::move(bare);
  mine.engine = impl.engine.events();
  mine.losses = std::move(losses);
  mine.involuntary_switches = measure::involuntary_switches() - switches;
  steps_done_ += steps;
  activity().enter("gathering a block");
  return gather_block(impl.world, impl.ranks, std::move(mine), clock);
}

void PointTrainer::catch_up(int steps) {
  Impl& impl = *impl_;
  if (impl.takes_part()) {
    tensor::set_threads(impl.budget.compute);
    for (int i = 0; i < steps; ++i) impl.trainer->step(*impl.loader);
    impl.loader->pause();
  }
  steps_done_ += steps;
  impl.world.barrier();
}

int PointTrainer::differing_bucket() {
  Impl& impl = *impl_;
  std::vector<std::uint64_t> mine;
  if (impl.takes_part() && impl.communicates()) mine = impl.trainer->bucket_hashes();
  const auto hashes = transport::gather_vectors(impl.world, std::span<const std::uint64_t>(mine));
  for (std::size_t bucket = 0; bucket < hashes.front().size(); ++bucket) {
    for (int rank = 1; rank < impl.ranks; ++rank) {
      if (hashes[static_cast<std::size_t>(rank)][bucket] != hashes.front()[bucket]) return static_cast<int>(bucket);
    }
  }
  return -1;
}

result::PointEnd PointTrainer::finish(std::int64_t held_out_samples) {
  Impl& impl = *impl_;
  result::PointEnd end;
  std::uint64_t hash = 0;
  if (impl.takes_part()) {
    tensor::set_threads(impl.budget.compute);
    end.held_out_loss = impl.trainer->held_out_loss(*impl.dataset, held_out_samples);
    hash = impl.trainer->parameter_hash();
  }
  const std::vector<std::uint64_t> hashes = transport::gather_values(impl.world, hash);
  end.parameter_hash = fmt::format("{:016x}", hashes.front());
  // Without communication every rank trains on its own: the copies must differ, and nothing is to be compared.
  for (int rank = 1; impl.communicates() && rank < impl.ranks; ++rank) {
    end.parameters_equal = end.parameters_equal && hashes[static_cast<std::size_t>(rank)] == hashes.front();
  }
  return end;
}

parallel::Checkpoint PointTrainer::save() const {
  parallel::Checkpoint checkpoint;
  checkpoint.step = steps_done_;
  if (impl_->takes_part()) {
    checkpoint.loader = impl_->loader->state();
    checkpoint.trainer = impl_->trainer->save();
  }
  return checkpoint;
}

void PointTrainer::restore(const parallel::Checkpoint& checkpoint) {
  if (impl_->takes_part()) {
    impl_->loader->restore(checkpoint.loader);
    impl_->trainer->restore(checkpoint.trainer);
  }
  steps_done_ = checkpoint.step;
}

}  // namespace ringmaster::experiment
