// SPDX-License-Identifier: Apache-2.0
// A collective that is prepared once and run many times: buffers, plan and requests are fixed when it is made, so
// that a run allocates, locks and formats nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/data_type.hpp"
#include "base/spec.hpp"
#include "transport/process_group.hpp"

namespace ringmaster::collective {

/// `input` and `output` have the same size in bytes; the same address means in place. Not owned.
struct Buffers {
  std::span<const std::byte> input;
  std::span<std::byte> output;
  DataType type = DataType::float32;
  /// Where both lie, if in shared memory (*registered*), on every rank the same. Null: in the rank's own memory.
  const transport::NodeMemory* memory = nullptr;
  Reduction reduction = Reduction::sum;
};

/// Not thread safe; start, progress and wait may be called from different threads, never at the same time.
class Operation {
 public:
  virtual ~Operation() = default;

  /// Begins a run; the previous one must be complete. Input must be ready.
  void start();
  /// Moves things on without blocking; true once the result is in output.
  bool progress();
  bool running() const { return running_; }
  /// True if `progress` blocks inside a library until the end (MPI_Allreduce): such an operation must be run in
  /// the same order on all ranks and never polled from between layers.
  virtual bool blocks() const { return false; }

 private:
  virtual void do_start() = 0;
  virtual bool do_progress() = 0;
  bool running_ = false;
};

/// Runs to the end, waiting as `Waiting` says.
enum class Waiting { spin, yield };
void run(Operation& operation, Waiting waiting);

}  // namespace ringmaster::collective
