// SPDX-License-Identifier: Apache-2.0
// Loader threads and their bounded queue. A ring of queue + 1 slots: one batch is with the caller, the others are
// made in advance. Whoever claims number n makes batch n in slot n mod (queue + 1), so the order is the numbers'
// and does not depend on the thread count. No lock and no allocation after construction: slots are recycled, and
// waiting is a futex (atomic wait) on a counter that every change bumps.
//
// A rank's stream of samples: k = 0, 1, ... runs through epochs of size / ranks samples; the k-th of an epoch is
// position rank + k * ranks of the shuffled order. The up to ranks - 1 positions at the end of an epoch that do not
// divide are dropped (other samples in each epoch, since each is shuffled anew). A batch may span two epochs.
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#include "base/error.hpp"
#include "data/dataset.hpp"

namespace ringmaster::data {
namespace {

struct Slot {
  Batch batch;
  std::exception_ptr error;
  std::atomic<std::int64_t> made{-1};  // number of the batch that it holds
};

/// A counter to wait on: read it, look whether there is something to do, wait while it is unchanged.
class Bell {
 public:
  std::uint32_t read() const { return count_.load(std::memory_order_seq_cst); }
  void ring() {
    count_.fetch_add(1, std::memory_order_seq_cst);
    count_.notify_all();
  }
  void wait(std::uint32_t seen) const { count_.wait(seen, std::memory_order_seq_cst); }

 private:
  std::atomic<std::uint32_t> count_{0};
};

void check(const LoaderOptions& options, std::int64_t samples) {
  if (options.batch < 1) throw UserError("a batch needs at least 1 sample", "train.batch: 1 or more");
  if (options.threads < 0) throw UserError("loader threads cannot be negative", "data.loaders: 0 or more");
  if (options.queue < 1) throw UserError("the loader's queue needs at least 1 batch", "data.queue: 1 or more");
  RINGMASTER_ASSERT(options.ranks >= 1 && options.rank >= 0 && options.rank < options.ranks, "loader rank");
  if (samples < options.ranks) {
    throw UserError("too little data: " + std::to_string(samples) + " training samples for " +
                        std::to_string(options.ranks) + " ranks",
                    "each rank needs at least one sample an epoch");
  }
}

}  // namespace

struct Loader::Impl {
  Impl(const Dataset& dataset_in, const LoaderOptions& options_in)
      : dataset(dataset_in), options(options_in), slots(static_cast<std::size_t>(options_in.queue) + 1) {
    check(options, dataset.size());
    per_epoch = dataset.size() / options.ranks;
    for (Slot& slot : slots) slot.batch.reserve(dataset.shape(), options.batch);
  }
  ~Impl() {
    stop.store(true);
    work.ring();
    for (std::thread& thread : threads) thread.join();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Slot& slot_of(std::int64_t number) { return slots[static_cast<std::size_t>(number) % slots.size()]; }

  std::int64_t sample_at(std::int64_t stream_position) const {
    const std::int64_t epoch = stream_position / per_epoch;
    const std::int64_t position = options.rank + (stream_position % per_epoch) * options.ranks;
    return shuffled(position, dataset.size(), options.seed, epoch);
  }

  void make(std::int64_t number) {
    Slot& slot = slot_of(number);
    slot.error = nullptr;
    try {
      for (std::int64_t i = 0; i < options.batch; ++i) {
        dataset.fill(sample_at(number * options.batch + i), i, slot.batch);
      }
      if (options.planted_delay_s > 0) {
        std::this_thread::sleep_for(std::chrono::duration<double>(options.planted_delay_s));
      }
    } catch (...) {
      slot.error = std::current_exception();  // reaches the caller with its batch
    }
    slot.made.store(number, std::memory_order_release);
  }

  bool claim_and_make() {
    std::int64_t number = claimed.load();
    while (number < handed_out.load() + options.queue) {
      if (claimed.compare_exchange_weak(number, number + 1)) {
        make(number);
        return true;
      }
    }
    return false;
  }

  void run_thread() {
    for (;;) {
      const std::uint32_t seen = work.read();
      if (stop.load()) return;
      // `active` is raised before `resting` is read: whoever sets `resting` and then sees 0 knows that no thread works.
      active.fetch_add(1);
      const bool worked = !resting.load() && claim_and_make();
      active.fetch_sub(1);
      done.ring();
      if (!worked) work.wait(seen);
    }
  }

  void rest() {
    resting.store(true);
    for (;;) {
      const std::uint32_t seen = done.read();
      if (active.load() == 0) return;
      done.wait(seen);
    }
  }

  void resume() {
    if (!resting.load(std::memory_order_relaxed)) return;
    resting.store(false);
    work.ring();
  }

  const Dataset& dataset;
  LoaderOptions options;
  std::int64_t per_epoch = 1;
  std::vector<Slot> slots;
  std::atomic<std::int64_t> handed_out{0};  // batches that `next` began to return
  std::atomic<std::int64_t> claimed{0};     // the next number to make
  std::atomic<bool> stop{false};
  std::atomic<bool> resting{true};  // until the first `next`
  std::atomic<int> active{0};
  Bell work;  // something to do for the threads
  Bell done;  // something made for the caller
  std::vector<std::thread> threads;
  std::int64_t returned = 0;  // what state() tells
};

Loader::Loader(const Dataset& dataset, const LoaderOptions& options) : impl_(std::make_unique<Impl>(dataset, options)) {
  for (int i = 0; i < options.threads; ++i) impl_->threads.emplace_back([impl = impl_.get()] { impl->run_thread(); });
  if (options.threads > 0) impl_->resume();
}

Loader::~Loader() = default;

const Batch& Loader::next() {
  Impl& impl = *impl_;
  const std::int64_t number = impl.returned;
  Slot& slot = impl.slot_of(number);
  if (impl.options.threads == 0) {
    impl.make(number);
  } else {
    impl.resume();
    for (;;) {
      const std::uint32_t seen = impl.done.read();
      if (slot.made.load(std::memory_order_acquire) == number) break;
      impl.done.wait(seen);
    }
  }
  if (slot.error) std::rethrow_exception(slot.error);
  impl.returned = number + 1;
  if (impl.options.threads > 0) {
    // The slot of batch number - 1 goes back to the threads, which may now make number + 1 .. number + queue.
    impl.handed_out.store(number + 1);
    impl.work.ring();
  }
  return slot.batch;
}

LoaderState Loader::state() const { return {impl_->returned}; }

void Loader::restore(const LoaderState& state) {
  Impl& impl = *impl_;
  if (state.batches < 0)
    throw UserError("a loader's state cannot be negative", "the saved state is damaged: remove the checkpoint");
  const bool threaded = impl.options.threads > 0;
  if (threaded) impl.rest();
  for (Slot& slot : impl.slots) slot.made.store(-1);
  impl.returned = state.batches;
  impl.handed_out.store(state.batches);
  impl.claimed.store(state.batches);
}

void Loader::pause() {
  if (impl_->options.threads > 0) impl_->rest();
}

}  // namespace ringmaster::data
