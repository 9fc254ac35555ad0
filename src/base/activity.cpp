// SPDX-License-Identifier: Apache-2.0
#include "base/activity.hpp"

#include <mutex>
#include <set>
#include <vector>

#include "base/text.hpp"

namespace ringmaster {

const char* lasting(const std::string& name) {
  static std::mutex mutex;
  static auto* const names = new std::set<std::string>;  // never destroyed: read while the process ends
  const std::lock_guard lock(mutex);
  return names->insert(name).first->c_str();
}

void Activity::enter(const char* name) {
  const auto relaxed = std::memory_order_relaxed;
  operation.store("", relaxed);
  for (auto* number : {&bucket, &round, &peer}) number->store(-1, relaxed);
  phase.store(name, relaxed);
  touch();
}

std::string Activity::describe() const {
  const auto relaxed = std::memory_order_relaxed;
  std::vector<std::string> parts;
  const auto add_text = [&](const char* before, const char* value) {
    if (*value != '\0') parts.push_back(before + std::string(value));
  };
  const auto add_number = [&](const char* before, std::int64_t value) {
    if (value >= 0) parts.push_back(before + std::to_string(value));
  };
  add_text("point ", point.load(relaxed));
  add_number("step ", step.load(relaxed));
  add_number("bucket ", bucket.load(relaxed));
  add_text("", phase.load(relaxed));
  std::string during = operation.load(relaxed);
  const std::int64_t at_round = round.load(relaxed);
  if (!during.empty() && at_round >= 0) during += " round " + std::to_string(at_round);
  add_text("", during.c_str());
  add_number("for rank ", peer.load(relaxed));
  return join(parts, ", ");
}

Activity& activity() {
  static Activity instance;
  return instance;
}

}  // namespace ringmaster
