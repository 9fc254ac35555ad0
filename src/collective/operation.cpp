// SPDX-License-Identifier: Apache-2.0
#include "collective/operation.hpp"

#include <thread>

#include "base/error.hpp"

namespace ringmaster::collective {

void Operation::start() {
  RINGMASTER_ASSERT(!running_, "an operation is started while it runs");
  running_ = true;
  do_start();
}

bool Operation::progress() {
  if (!running_) return true;
  if (!do_progress()) return false;
  running_ = false;
  return true;
}

void run(Operation& operation, Waiting waiting) {
  operation.start();
  while (!operation.progress()) {
    if (waiting == Waiting::yield) std::this_thread::yield();
  }
}

}  // namespace ringmaster::collective
