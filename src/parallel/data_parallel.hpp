// SPDX-License-Identifier: Apache-2.0
// Data parallel training: every rank computes gradients of its own samples; buckets of gradients, filled in the
// order in which backward finishes them, are reduced as soon as they are full.
//
// Gradients live in flat registered memory, ordered by readiness: a layer writes its gradient where the wire reads
// it. Every microsecond of the main lane is recorded under one label.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/recorder.hpp"
#include "collective/allreduce.hpp"
#include "collective/engine.hpp"
#include "data/dataset.hpp"
#include "model/model.hpp"
#include "model/optimizer.hpp"
#include "transport/process_group.hpp"

namespace ringmaster::parallel {

/// Planted faults, for tests of the accounts and of the limits that a report names; none in a real run, and stamped on
/// the result where there are.
struct Plant {
  int rank = -1;               // where (-1: every rank)
  double sleep_s = 0;          // a sleep in each step ...
  Label label = Label::other;  // ... recorded under this label, in the middle of such a phase
  bool unrecorded = false;     // ... or under none: the books must then not balance
  double compute_factor = 1;   // forward and backward take this much longer (real repeated work)
};

enum class Communication : std::uint8_t { on, none };  // none: the no-communication twin

struct DataParallelOptions {
  std::int64_t batch = 8;  // samples a rank, step and micro-batch
  int micro_batches = 1;   // accumulated before the reduction
  std::int64_t bucket_bytes = 4 << 20;
  bool overlap = true;  // reduce during backward, not after it
  Communication communication = Communication::on;
  double clip_norm = 0;  // 0: off
  model::OptimizerOptions optimizer;
  std::uint64_t seed = 1;
  collective::AllreduceChoice allreduce;
  collective::EngineOptions engine;
  Plant plant;
};

/// What a bucket is: bytes and the layer whose backward completes it.
struct BucketInfo {
  std::int64_t offset = 0;  // elements, in the flat gradient
  std::int64_t elements = 0;
  int ready_layer = 0;
};

struct StepResult {
  double loss = 0;           // mean over this rank's samples
  double gradient_norm = 0;  // after reduction; 0 if not computed
};

class DataParallel {
 public:
  /// Collective over `group`. The model is owned; every rank starts from the same parameters.
  DataParallel(transport::ProcessGroup& group, std::unique_ptr<model::Model<float>> model, DataParallelOptions options,
               Recorder& recorder);
  ~DataParallel();

  /// One optimizer step. All ranks call it together.
  StepResult step(data::Loader& loader);
  /// Mean loss on held-out samples dealt over ranks, averaged over the group. Collective over the group.
  double held_out_loss(const data::Dataset& dataset, std::int64_t most_samples);

  const std::vector<BucketInfo>& buckets() const;
  std::int64_t parameter_count() const;
  std::int64_t steps_done() const;
  const model::Model<float>& model() const;
  const collective::Allreduce& allreduce() const;

  std::span<float> parameters();  // flat, in the order of readiness
  std::span<const float> gradients() const;
  /// XXH3 of all parameters: equal on all ranks, or something is wrong.
  std::uint64_t parameter_hash() const;
  /// XXH3 of every bucket's result of the last step.
  std::vector<std::uint64_t> bucket_hashes() const;

  /// Everything a restart needs besides the loader, as bytes (parameters, optimizer, step), and back.
  std::vector<std::byte> save() const;
  void restore(std::span<const std::byte> bytes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A checkpoint file of one rank: written beside and renamed, with a hash; a damaged one is a UserError.
struct Checkpoint {
  std::string identity;  // of the run: a checkpoint of another one is none
  std::int64_t step = 0;
  data::LoaderState loader;
  std::vector<std::byte> trainer;
};
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);
Checkpoint read_checkpoint(const std::string& path);

}  // namespace ringmaster::parallel
