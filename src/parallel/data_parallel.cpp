// SPDX-License-Identifier: Apache-2.0
// The data parallel step. On the path of a step nothing is allocated: buffers, operations, hooks and tickets are made
// with the object.
#include "parallel/data_parallel.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "device/device.hpp"
#include "parallel/bytes.hpp"
#include "parallel/denormals.hpp"
#include "parallel/layout.hpp"
#include "parallel/main_lane.hpp"

namespace ringmaster::parallel {
namespace {

constexpr auto float_bytes = static_cast<std::int64_t>(sizeof(float));
constexpr std::uint32_t state_magic = 0x31544452;  // "RDT1"

/// The first `samples` samples of a batch, as the model reads them.
model::Input<float> input_of(const data::Batch& batch, const model::InputShape& shape, std::int64_t samples) {
  const auto elements = static_cast<std::size_t>(samples * shape.length);
  model::Input<float> input;
  input.samples = samples;
  if (shape.tokens) {
    input.tokens = std::span(batch.tokens).first(elements);
    input.targets = std::span(batch.targets).first(elements);
  } else {
    input.features = std::span(batch.features).first(elements);
    input.labels = std::span(batch.labels).first(static_cast<std::size_t>(samples * shape.outputs));
  }
  return input;
}

std::vector<float*> addresses(std::span<float> flat, const Layout& layout) {
  std::vector<float*> result;
  for (const std::int64_t offset : layout.offsets) result.push_back(flat.data() + offset);
  return result;
}

std::uint64_t hash_of(std::span<const float> values) { return XXH3_64bits(values.data(), values.size_bytes()); }

std::span<float> floats_of(std::span<std::byte> bytes) {
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

}  // namespace

struct DataParallel::Impl {
  Impl(transport::ProcessGroup& group_in, std::unique_ptr<model::Model<float>> model_in, DataParallelOptions options_in,
       Recorder& recorder);

  void prepare_communication();
  void make_hooks();

  StepResult step(data::Loader& loader);
  double micro_batch(const data::Batch& batch, int number);
  void repeat_compute(const data::Batch& batch);
  void enqueue(int layer);
  void submit(int bucket);
  void wait(int bucket);
  double norm();
  void update(double scale);

  std::span<float> bucket_of(std::span<float> flat, int bucket) const {
    const BucketInfo& info = layout.buckets[static_cast<std::size_t>(bucket)];
    return flat.subspan(static_cast<std::size_t>(info.offset), static_cast<std::size_t>(info.elements));
  }
  bool shares_gradients() const { return communicates && collective::shares_memory(options.allreduce.transport); }
  int bucket_count() const { return static_cast<int>(layout.buckets.size()); }
  bool inline_progress() const {
    return engine != nullptr && engine->mode() == collective::EngineMode::inline_progress;
  }

  transport::ProcessGroup& group;
  std::unique_ptr<model::Model<float>> model;
  DataParallelOptions options;
  MainLane lane;
  model::InputShape shape;
  Layout layout;
  bool communicates;

  device::Buffer parameter_memory;
  device::Buffer gradient_memory;          // one of these two
  transport::NodeMemory shared_gradients;  // where a schedule runs on it
  device::Buffer spare_memory;             // gradients of planted extra work; empty in a real run
  std::span<float> parameters;
  std::span<float> gradients;
  std::vector<float*> parameter_at;
  std::vector<float*> gradient_at;
  std::vector<float*> spare_at;
  model::Optimizer optimizer;
  std::int64_t steps_done = 0;
  double owed_samples = 0;  // of planted extra work, less than one

  model::Hooks quiet;  // no events: planted extra work, held-out loss
  model::Hooks early;  // all micro-batches but the last
  model::Hooks last;   // the last one: buckets become ready
  Nanoseconds layer_begin = 0;

  // Destroyed from below: first whoever runs operations, then the operations, then what they use.
  std::unique_ptr<collective::Allreduce> allreduce;
  std::vector<std::unique_ptr<collective::Operation>> operations;
  std::vector<std::int64_t> tickets;
  std::unique_ptr<collective::Engine> engine;
};

DataParallel::Impl::Impl(transport::ProcessGroup& group_in, std::unique_ptr<model::Model<float>> model_in,
                         DataParallelOptions options_in, Recorder& recorder)
    : group(group_in),
      model(std::move(model_in)),
      options(std::move(options_in)),
      lane(recorder, options.plant, group.rank()),
      shape(model->input()),
      layout(lay_out(*model, options.bucket_bytes)),
      communicates(options.communication == Communication::on && group.size() > 1),
      parameter_memory(layout.elements * float_bytes),
      gradient_memory(shares_gradients() ? 0 : layout.elements * float_bytes),
      shared_gradients(shares_gradients() ? group.share(layout.elements * float_bytes) : transport::NodeMemory()),
      spare_memory(lane.extra_compute() > 0 ? layout.elements * float_bytes : 0),
      parameters(parameter_memory.as<float>()),
      gradients(shares_gradients() ? floats_of(shared_gradients.mine()) : gradient_memory.as<float>()),
      parameter_at(addresses(parameters, layout)),
      gradient_at(addresses(gradients, layout)),
      optimizer(options.optimizer, layout.elements) {
  RINGMASTER_ASSERT(options.batch >= 1 && options.micro_batches >= 1, "an empty step");
  if (lane.extra_compute() > 0) spare_at = addresses(spare_memory.as<float>(), layout);
  const std::vector<model::ParameterInfo>& infos = model->parameters();
  for (std::size_t i = 0; i < infos.size(); ++i) {
    const std::span<float> values(parameter_at[i], static_cast<std::size_t>(infos[i].size()));
    model::initialize(infos[i], static_cast<int>(i), options.seed, values);
  }
  model->prepare(options.batch);
  make_hooks();
  if (communicates) prepare_communication();
}

void DataParallel::Impl::prepare_communication() {
  allreduce = std::make_unique<collective::Allreduce>(group, options.allreduce);
  for (int bucket = 0; bucket < bucket_count(); ++bucket) {
    const std::span<std::byte> bytes = std::as_writable_bytes(bucket_of(gradients, bucket));
    operations.push_back(allreduce->prepare({bytes, bytes, DataType::float32, &shared_gradients}));
  }
  tickets.assign(operations.size(), -1);
  engine = std::make_unique<collective::Engine>(options.engine);
}

void DataParallel::Impl::make_hooks() {
  const int middle = model->layer_count() / 2;
  early.before_forward = [this, middle](int layer) {
    layer_begin = now_ns();
    if (layer == middle) lane.plant_in(Label::forward, layer);
  };
  early.after_forward = [this](int layer) { lane.record(Label::forward, layer_begin, layer); };
  early.before_backward = [this](int) { layer_begin = now_ns(); };
  early.after_backward = [this](int layer) { lane.record(Label::backward, layer_begin, layer); };
  last = early;
  last.before_backward = [this, middle](int layer) {
    layer_begin = now_ns();
    if (layer == middle) lane.plant_in(Label::backward, layer);
  };
  last.after_backward = [this](int layer) {
    lane.record(Label::backward, layer_begin, layer);
    if (communicates && options.overlap) enqueue(layer);
  };
}

/// Work of real size and no effect, before the real one (backward needs its own forward to be the last).
void DataParallel::Impl::repeat_compute(const data::Batch& batch) {
  owed_samples += lane.extra_compute() * static_cast<double>(batch.samples);
  while (owed_samples >= 1) {
    const std::int64_t samples = std::min(batch.samples, static_cast<std::int64_t>(owed_samples));
    owed_samples -= static_cast<double>(samples);
    const model::Input<float> input = input_of(batch, shape, samples);
    {
      const Scope scope = lane.open(Label::forward);
      model->forward(parameter_at, input, quiet);
    }
    const Scope scope = lane.open(Label::backward);
    model->backward(parameter_at, spare_at, input, 1.0, model::Accumulate::overwrite, quiet);
  }
}

double DataParallel::Impl::micro_batch(const data::Batch& batch, int number) {
  RINGMASTER_ASSERT(batch.samples <= options.batch, "a batch larger than planned");
  if (lane.extra_compute() > 0) repeat_compute(batch);
  const model::Input<float> input = input_of(batch, shape, batch.samples);
  const model::Hooks& hooks = number == options.micro_batches - 1 ? last : early;
  double loss = 0;
  {
    MainLane::enter("forward");
    const Scope scope = lane.open(Label::forward);
    loss = model->forward(parameter_at, input, hooks);
  }
  MainLane::enter("backward");
  const Scope scope = lane.open(Label::backward);
  model->backward(parameter_at, gradient_at, input, 1.0 / options.micro_batches,
                  number == 0 ? model::Accumulate::overwrite : model::Accumulate::add, hooks);
  return loss;
}

/// What the backward of this layer completed goes on its way, and what is under way moves on.
void DataParallel::Impl::enqueue(int layer) {
  const std::vector<int>& ready = layout.ready[static_cast<std::size_t>(layer)];
  if (ready.empty() && !inline_progress()) return;
  const Scope scope = lane.open(Label::progress, layer);
  for (const int bucket : ready) submit(bucket);
  lane.plant_in(Label::progress, layer);
  engine->poll();
}

void DataParallel::Impl::submit(int bucket) {
  const auto b = static_cast<std::size_t>(bucket);
  const std::int64_t bytes = layout.buckets[b].elements * float_bytes;
  lane.record_instant(Label::bucket_enqueued, bucket, bytes);
  tickets[b] = engine->submit(*operations[b], lane.step(), bucket, bytes);
}

void DataParallel::Impl::wait(int bucket) {
  activity().bucket.store(bucket, std::memory_order_relaxed);
  MainLane::enter("waiting for a bucket");
  const Scope scope = lane.open(Label::exposed_wait, bucket);
  if (bucket == bucket_count() / 2) lane.plant_in(Label::exposed_wait, bucket);
  engine->wait(tickets[static_cast<std::size_t>(bucket)]);
}

/// Of the mean gradient; waits for all buckets.
double DataParallel::Impl::norm() {
  double sum = 0;
  for (int bucket = 0; bucket < bucket_count(); ++bucket) {
    if (communicates) wait(bucket);
    const Scope scope = lane.open(Label::optimizer, bucket);
    sum += model::sum_of_squares(bucket_of(gradients, bucket));
  }
  return std::sqrt(sum) / (communicates ? group.size() : 1);
}

void DataParallel::Impl::update(double scale) {
  const bool waits = communicates && options.clip_norm <= 0;  // the norm has waited already
  optimizer.begin_step();
  for (int bucket = 0; bucket < bucket_count(); ++bucket) {
    if (waits) wait(bucket);
    {
      MainLane::enter("optimizer");
      const Scope scope = lane.open(Label::optimizer, bucket);
      if (bucket == bucket_count() / 2) lane.plant_in(Label::optimizer, bucket);
      for (const DecayRange& range : layout.ranges[static_cast<std::size_t>(bucket)]) {
        const auto offset = static_cast<std::size_t>(range.offset);
        const auto elements = static_cast<std::size_t>(range.elements);
        optimizer.update(range.offset, parameters.subspan(offset, elements), gradients.subspan(offset, elements), scale,
                         range.decays);
      }
    }
    if (waits && inline_progress() && bucket + 1 < bucket_count()) {
      const Scope scope = lane.open(Label::progress, bucket);
      engine->poll();
    }
  }
}

StepResult DataParallel::Impl::step(data::Loader& loader) {
  lane.begin_step(static_cast<std::int32_t>(steps_done));
  const Scope whole = lane.open(Label::step);
  std::optional<FlushDenormals> flush;
  if (options.communication == Communication::none) flush.emplace();
  StepResult result;
  for (int number = 0; number < options.micro_batches; ++number) {
    const data::Batch* batch = nullptr;
    {
      MainLane::enter("waiting for data");
      const Scope scope = lane.open(Label::data_wait, number);
      lane.plant_in(Label::data_wait, number);
      batch = &loader.next();
    }
    lane.plant_outside();
    result.loss += micro_batch(*batch, number) / options.micro_batches;
  }
  if (communicates && !options.overlap) {
    const Scope scope = lane.open(Label::progress);
    for (int bucket = 0; bucket < bucket_count(); ++bucket) submit(bucket);
    lane.plant_in(Label::progress);
    engine->poll();
  }
  double scale = communicates ? 1.0 / group.size() : 1.0;
  if (options.clip_norm > 0) {
    result.gradient_norm = norm();
    if (result.gradient_norm > options.clip_norm) scale *= options.clip_norm / result.gradient_norm;
  }
  update(scale);
  lane.plant_rest();
  ++steps_done;
  return result;
}

DataParallel::DataParallel(transport::ProcessGroup& group, std::unique_ptr<model::Model<float>> model,
                           DataParallelOptions options, Recorder& recorder)
    : impl_(std::make_unique<Impl>(group, std::move(model), std::move(options), recorder)) {}

DataParallel::~DataParallel() = default;

StepResult DataParallel::step(data::Loader& loader) { return impl_->step(loader); }

double DataParallel::held_out_loss(const data::Dataset& dataset, std::int64_t most_samples) {
  Impl& impl = *impl_;
  const std::int64_t total = std::min(most_samples, dataset.held_out_size());
  const std::int64_t ranks = impl.group.size();
  data::Batch batch;
  batch.reserve(dataset.shape(), impl.options.batch);
  double sum = 0;
  for (std::int64_t next = impl.group.rank(); next < total;) {
    std::int64_t samples = 0;
    for (; samples < impl.options.batch && next < total; ++samples, next += ranks) {
      dataset.fill(dataset.size() + next, samples, batch);
    }
    const double loss = impl.model->forward(impl.parameter_at, input_of(batch, impl.shape, samples), impl.quiet);
    sum += loss * static_cast<double>(samples);
    activity().touch();
  }
  double all = 0;
  for (const double part : transport::gather_values(impl.group, sum)) all += part;
  return total > 0 ? all / static_cast<double>(total) : std::numeric_limits<double>::quiet_NaN();
}

const std::vector<BucketInfo>& DataParallel::buckets() const { return impl_->layout.buckets; }
std::int64_t DataParallel::parameter_count() const { return impl_->layout.parameters; }
std::int64_t DataParallel::steps_done() const { return impl_->steps_done; }
const model::Model<float>& DataParallel::model() const { return *impl_->model; }

const collective::Allreduce& DataParallel::allreduce() const {
  RINGMASTER_ASSERT(impl_->allreduce != nullptr, "no allreduce in a run without communication");
  return *impl_->allreduce;
}

std::span<float> DataParallel::parameters() { return impl_->parameters; }
std::span<const float> DataParallel::gradients() const { return impl_->gradients; }
std::uint64_t DataParallel::parameter_hash() const { return hash_of(impl_->parameters); }

std::vector<std::uint64_t> DataParallel::bucket_hashes() const {
  std::vector<std::uint64_t> hashes;
  hashes.reserve(impl_->layout.buckets.size());
  for (int bucket = 0; bucket < impl_->bucket_count(); ++bucket) {
    hashes.push_back(hash_of(impl_->bucket_of(impl_->gradients, bucket)));
  }
  return hashes;
}

std::vector<std::byte> DataParallel::save() const {
  Impl& impl = *impl_;
  const std::span<float> state = impl.optimizer.state();
  ByteWriter writer;
  writer.reserve(64 + impl.parameters.size_bytes() + state.size_bytes());
  writer.put(state_magic);
  writer.put(static_cast<std::int64_t>(impl.parameters.size()));
  writer.put(static_cast<std::int64_t>(state.size()));
  writer.put(impl.steps_done);
  writer.put(impl.optimizer.step());
  writer.put(impl.owed_samples);
  writer.put_bytes(std::as_bytes(impl.parameters));
  writer.put_bytes(std::as_bytes(state));
  return std::move(writer.bytes());
}

void DataParallel::restore(std::span<const std::byte> bytes) {
  Impl& impl = *impl_;
  const std::span<float> state = impl.optimizer.state();
  ByteReader reader(bytes);
  std::uint32_t magic = 0;
  std::int64_t elements = 0;
  std::int64_t state_elements = 0;
  std::int64_t steps = 0;
  std::int64_t optimizer_step = 0;
  double owed = 0;
  const bool whole = reader.get(magic) && reader.get(elements) && reader.get(state_elements) && reader.get(steps) &&
                     reader.get(optimizer_step) && reader.get(owed);
  if (!whole || magic != state_magic || steps < 0 || optimizer_step < 0 || !(owed >= 0 && owed < 1)) {
    throw UserError("the saved state is damaged, or of another version",
                    "remove the checkpoint: the steps are then repeated");
  }
  if (elements != static_cast<std::int64_t>(impl.parameters.size()) ||
      state_elements != static_cast<std::int64_t>(state.size()) ||
      reader.left() != impl.parameters.size_bytes() + state.size_bytes()) {
    throw UserError("the saved state is of another model or optimizer", "a checkpoint fits its own config only");
  }
  reader.get_bytes(std::as_writable_bytes(impl.parameters));
  reader.get_bytes(std::as_writable_bytes(state));
  impl.steps_done = steps;
  impl.optimizer.restore_step(optimizer_step);
  impl.owed_samples = owed;
}

}  // namespace ringmaster::parallel
