// SPDX-License-Identifier: Apache-2.0
// Configs from memory, and the lines that a wrong one leaves.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "experiment/config_source.hpp"

namespace ringmaster::experiment {

inline Config read_text(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return parse_config(text, "c.yaml", overrides, ConfigFiles{});
}

/// "line:column: error: ..." of each complaint, joined by line ends; "" if the config is fine.
inline std::string mistakes(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    read_text(text, overrides);
  } catch (const UserError& error) {
    std::string lines;
    for (const Complaint& complaint : error.complaints()) lines += complaint.line() + "\n";
    return lines;
  }
  return {};
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline std::vector<std::string> names_of(const Config& config, const std::string& role) {
  std::vector<std::string> names;
  for (const PlannedPoint& point : config.points) {
    if (point.role == role) names.push_back(point.name);
  }
  return names;
}

}  // namespace ringmaster::experiment
