// SPDX-License-Identifier: Apache-2.0
// Samples by number, and loader threads that put batches into a bounded queue, so that waiting for data is real
// and measured. Samples are shuffled anew each epoch by (seed, epoch) and dealt to data-parallel ranks: no sample
// is on two ranks in an epoch. A held-out part (the tail of the data) is never trained on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/spec.hpp"

namespace ringmaster::data {

/// What a model wants (a copy of the model's description; this module does not know models).
struct SampleShape {
  bool tokens = false;
  std::int64_t length = 0;  // tokens a sample, or features
  std::int64_t vocabulary = 0;
  std::int64_t outputs = 0;
};

/// Host memory of one batch, sample by sample. Either tokens and targets, or features and labels.
struct Batch {
  std::int64_t samples = 0;
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> targets;
  std::vector<float> features;
  std::vector<float> labels;
  void reserve(const SampleShape& shape, std::int64_t samples);
};

/// Immutable after construction; `fill` may be called from several threads.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t size() const = 0;           // training samples
  virtual std::int64_t held_out_size() const = 0;  // held-out samples, numbered size() .. size() + held_out - 1
  virtual SampleShape shape() const = 0;
  /// Writes sample `sample` at place `slot` of a reserved batch.
  virtual void fill(std::int64_t sample, std::int64_t slot, Batch& batch) const = 0;
  /// Entropy of single tokens in nats (what a model reaches that knows only frequencies); NaN if it has no tokens.
  virtual double unigram_entropy() const = 0;
  /// "text: 12 files, 1.2 MB".
  virtual std::string describe() const = 0;
  /// Equal for equal samples in equal order (a hash, as text): a run goes on with the data that it began with only.
  virtual std::string fingerprint() const = 0;
};

struct DataChoice {
  std::string kind = "text";  // registry name: "text", "synthetic"
  std::string path;           // text: a file or a folder (relative to the config)
  Parameters parameters;
  std::uint64_t seed = 1;
};
struct DatasetEntry {
  const char* name;
  const char* summary;
  std::span<const ParameterSpec> parameters;
  Verdict (*supports)(const DataChoice&, const SampleShape&);
  std::unique_ptr<Dataset> (*make)(const DataChoice&, const SampleShape&);
};
std::span<const DatasetEntry* const> datasets();
/// Throws UserError: unknown kind, missing path, too little text (with the figure).
std::unique_ptr<Dataset> make_dataset(DataChoice choice, const SampleShape& shape);

#define DATASET(name) const DatasetEntry& name##_dataset();
#include "data/datasets.def"
#undef DATASET

/// Which sample stands at position `position` (0 .. size-1) of an epoch.
std::int64_t shuffled(std::int64_t position, std::int64_t size, std::uint64_t seed, std::int64_t epoch);

struct LoaderOptions {
  std::int64_t batch = 1;  // samples a rank takes at a time
  int rank = 0;
  int ranks = 1;
  std::uint64_t seed = 1;
  int threads = 1;             // 0: the caller's own thread makes each batch
  int queue = 4;               // batches ready in advance at most
  double planted_delay_s = 0;  // a planted fault: each batch takes at least so long more
};

/// Where a loader stands: batches handed out. Epoch and order follow from it.
struct LoaderState {
  std::int64_t batches = 0;
};

class Loader {
 public:
  Loader(const Dataset& dataset, const LoaderOptions& options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// The next batch; waits for it. Valid until the next call. Batches come in order whatever the thread count.
  const Batch& next();
  LoaderState state() const;
  /// Goes to a saved state (drops what is queued).
  void restore(const LoaderState& state);
  /// Rests (threads hold no processing unit) until the next call of `next`; for sweep points that wait their turn.
  void pause();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringmaster::data
