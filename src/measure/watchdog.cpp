// SPDX-License-Identifier: Apache-2.0
#include "measure/watchdog.hpp"

#include <fmt/core.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include "base/activity.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "transport/mpi.hpp"

namespace ringmaster::measure {
namespace {

constexpr long poll_ns = 50'000'000;
constexpr auto last_words = std::chrono::seconds(2);  // for the others to say where they are, before the job goes down
constexpr auto flush_limit = std::chrono::milliseconds(500);  // mpirun sends SIGKILL one second after SIGTERM

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

std::string name_of_signal(int signal) {
  switch (signal) {
    case SIGTERM: return "SIGTERM (the job was ended, or another rank failed)";
    case SIGINT: return "SIGINT";
    case SIGHUP: return "SIGHUP";
    default: return "signal " + std::to_string(signal);
  }
}

std::atomic<bool> bus_error{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

/// Whatever the flush hangs in (a file system that is gone), the process ends in time and with its own code.
void exit_after(std::chrono::milliseconds limit, int code) {
  std::thread([limit, code] {
    std::this_thread::sleep_for(limit);
    _exit(code);
  }).detach();
}

}  // namespace

struct Watchdog::Impl {
  WatchdogOptions options;
  std::atomic<double> timeout_s{60};
  std::atomic<bool> stopping{false};
  std::thread thread;
  sigset_t before{};

  void report(const std::string& reason) const {
    if (options.on_interrupt) options.on_interrupt(reason);
  }
  bool stands_still() {
    const std::uint64_t ticks = activity().ticks.load(std::memory_order_relaxed);
    const Nanoseconds now = now_ns();
    if (ticks != seen_ticks || moved_at == 0) moved_at = now;
    seen_ticks = ticks;
    return to_seconds(now - moved_at) > timeout_s.load(std::memory_order_relaxed);
  }
  void watch();

  std::uint64_t seen_ticks = 0;  // the watchdog's thread only
  Nanoseconds moved_at = 0;
};

void Watchdog::Impl::watch() {
  const sigset_t signals = watched_signals();
  const timespec pause{0, poll_ns};
  while (!stopping.load(std::memory_order_relaxed)) {
    const int signal = sigtimedwait(&signals, nullptr, &pause);
    if (signal > 0) {
      exit_after(flush_limit, 128 + signal);
      report(name_of_signal(signal));
      _exit(128 + signal);
    }
    if (bus_error.load()) {
      report("SIGBUS: a file that was being read (data.path?) became shorter, or its disk failed");
      transport::abort_job(1);
    }
    if (!stands_still()) continue;
    report(fmt::format("no progress for {:g} s (the timeout)", timeout_s.load()));
    std::this_thread::sleep_for(last_words);
    transport::abort_job(1);
  }
}

Watchdog::Watchdog(WatchdogOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->timeout_s = options.timeout_s;
  impl_->options = std::move(options);
  const sigset_t signals = watched_signals();
  if (const int code = pthread_sigmask(SIG_BLOCK, &signals, &impl_->before); code != 0) {
    errno = code;
    throw_os_error("pthread_sigmask", "");
  }
  impl_->thread = std::thread([impl = impl_.get()] { impl->watch(); });
}

Watchdog::~Watchdog() {
  impl_->stopping = true;
  impl_->thread.join();
  pthread_sigmask(SIG_SETMASK, &impl_->before, nullptr);
}

// A handler may do next to nothing: the thread that faulted stays here, the watchdog's thread reports.
void Watchdog::watch_mapped_files() {
  struct sigaction action {};
  action.sa_handler = [](int) {
    bus_error.store(true);
    for (;;) pause();
  };
  if (sigaction(SIGBUS, &action, nullptr) != 0) throw_os_error("sigaction", "SIGBUS");
}

void Watchdog::set_timeout(double seconds) { impl_->timeout_s = seconds; }

}  // namespace ringmaster::measure
