// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <unistd.h>

#include <atomic>

namespace ringmaster {
namespace {

std::atomic<LogLevel> lowest_level{LogLevel::info};
std::atomic<int> own_rank{-1};

const char* prefix(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return "debug: ";
    case LogLevel::info: return "";
    case LogLevel::warning: return "warning: ";
    case LogLevel::error: return "error: ";
  }
  return "";
}

}  // namespace

void configure_log(LogLevel lowest, int rank) {
  lowest_level = lowest;
  own_rank = rank;
}

void log(LogLevel level, const std::string& text) {
  const int rank = own_rank;
  if (level < lowest_level || (level == LogLevel::info && rank > 0)) return;
  std::string line = "ringmaster: ";
  if (rank >= 0 && level != LogLevel::info) line += "rank " + std::to_string(rank) + ": ";
  line += prefix(level) + text + "\n";
  // One write a line, so that lines of several ranks do not mix; a closed stderr is nobody's error.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace ringmaster
