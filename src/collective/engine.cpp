// SPDX-License-Identifier: Apache-2.0
// A ring of tickets between the main lane, which submits and waits, and whoever moves the operations on: a thread of
// the engine's own, or the main lane itself. Single producer, single consumer, no lock.
#include "collective/engine.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <thread>

#include "base/activity.hpp"
#include "base/error.hpp"

namespace ringmaster::collective {
namespace {

constexpr int passes_a_poll = 4;
constexpr std::int64_t capacity = 1024;  // tickets that are submitted and not yet complete

struct Ticket {
  Operation* operation = nullptr;
  std::int32_t step = 0;
  std::int32_t index = 0;
  std::int64_t bytes = 0;
  Nanoseconds begin = 0;
  bool started = false;
  std::atomic<std::int64_t> completed{-1};  // the ticket number whose run is complete
};

}  // namespace

struct Engine::Impl {
  EngineOptions options;
  std::array<Ticket, capacity> ring;
  std::atomic<std::int64_t> submitted{0};  // tickets given out; main lane writes
  std::int64_t done_before = 0;            // all tickets below are complete; consumer only
  std::atomic<bool> stopping{false};
  std::atomic<bool> failed{false};
  std::exception_ptr failure;
  std::thread thread;

  Ticket& ticket(std::int64_t number) { return ring[static_cast<std::size_t>(number % capacity)]; }
  bool is_complete(std::int64_t number) { return ticket(number).completed.load(std::memory_order_acquire) == number; }

  /// One pass over the operations in flight; true if one of them ended. Blocking ones only where they may block.
  enum class Blocking : std::uint8_t { skip, run };
  bool pass(Blocking blocking);
  bool advance(std::int64_t number, Blocking blocking);
  void thread_main();
  void rethrow() {
    if (failed.load(std::memory_order_acquire)) std::rethrow_exception(failure);
  }
};

bool Engine::Impl::advance(std::int64_t number, Blocking blocking) {
  Ticket& now = ticket(number);
  if (now.operation->blocks() && blocking == Blocking::skip) return false;
  if (!now.started) {
    now.started = true;
    now.begin = now_ns();
    now.operation->start();
  }
  if (!now.operation->progress()) return false;
  if (options.recorder != nullptr) {
    options.recorder->record(
        {now.begin, now_ns(), now.bytes, now.step, now.index, Label::bucket_transfer, EventLane::engine});
  }
  now.completed.store(number, std::memory_order_release);
  return true;
}

bool Engine::Impl::pass(Blocking blocking) {
  const std::int64_t end = submitted.load(std::memory_order_acquire);
  bool ended = false;
  int in_flight = 0;
  for (std::int64_t number = done_before; number < end && in_flight < options.in_flight; ++number) {
    if (is_complete(number)) continue;
    ++in_flight;
    ended = advance(number, blocking) || ended;
  }
  while (done_before < end && is_complete(done_before)) ++done_before;
  return ended;
}

void Engine::Impl::thread_main() {
  try {
    for (;;) {
      const std::int64_t seen = submitted.load(std::memory_order_acquire);
      if (done_before == seen) {
        if (stopping.load(std::memory_order_acquire)) return;
        submitted.wait(seen, std::memory_order_acquire);
        continue;
      }
      if (stopping.load(std::memory_order_acquire)) return;  // an error on the main lane: leave what cannot end
      if (!pass(Blocking::run) && options.waiting == Waiting::yield) std::this_thread::yield();
    }
  } catch (...) {
    failure = std::current_exception();
    failed.store(true, std::memory_order_release);
  }
}

Engine::Engine(const EngineOptions& options) : impl_(std::make_unique<Impl>()) {
  impl_->options = options;
  if (options.mode == EngineMode::own_thread)
    impl_->thread = std::thread([impl = impl_.get()] { impl->thread_main(); });
}

Engine::~Engine() {
  if (!impl_->thread.joinable()) return;
  impl_->stopping.store(true, std::memory_order_release);
  // The thread waits for `submitted` to change: a ticket that nobody runs wakes it.
  impl_->submitted.fetch_add(1, std::memory_order_release);
  impl_->submitted.notify_all();
  impl_->thread.join();
}

std::int64_t Engine::submit(Operation& operation, std::int32_t step, std::int32_t index, std::int64_t bytes) {
  const std::int64_t number = impl_->submitted.load(std::memory_order_relaxed);
  if (number >= capacity) wait(number - capacity);
  Ticket& ticket = impl_->ticket(number);
  ticket.operation = &operation;
  ticket.step = step;
  ticket.index = index;
  ticket.bytes = bytes;
  ticket.started = false;
  impl_->submitted.store(number + 1, std::memory_order_release);
  if (impl_->options.mode == EngineMode::own_thread) impl_->submitted.notify_one();
  return number;
}

void Engine::poll() {
  if (impl_->options.mode != EngineMode::inline_progress) return;
  // Polls are rare (between layers) and what arrives in one pass lets the next round begin: a few passes a poll.
  for (int i = 0; i < passes_a_poll; ++i) impl_->pass(Impl::Blocking::skip);
}

void Engine::wait(std::int64_t number) {
  Impl& impl = *impl_;
  if (number < 0) return;
  const bool own_thread = impl.options.mode == EngineMode::own_thread;
  // A slot that was given to a later ticket had to be complete before.
  while (impl.ticket(number).completed.load(std::memory_order_acquire) < number) {
    impl.rethrow();
    if (!own_thread) impl.pass(Impl::Blocking::run);
    if (impl.options.waiting == Waiting::yield) std::this_thread::yield();
  }
  impl.rethrow();
}

void Engine::wait_all() {
  const std::int64_t end = impl_->submitted.load(std::memory_order_relaxed);
  for (std::int64_t number = std::max<std::int64_t>(0, end - capacity); number < end; ++number) wait(number);
}

EngineMode Engine::mode() const { return impl_->options.mode; }

}  // namespace ringmaster::collective
