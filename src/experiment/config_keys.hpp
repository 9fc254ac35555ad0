// SPDX-License-Identifier: Apache-2.0
// Every key of a config with a fixed type as one row: validation, defaults, `--set`, sweeps, the resolved config and
// docs/config.md come from this table. Keys whose shape depends on a registry (model, data parameters,
// communication.collective) and lists are read by config_setup.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/spec.hpp"
#include "experiment/config.hpp"

namespace ringmaster::experiment {

/// run: one value for all points; point: workloads and sweeps may differ in it.
enum class KeyScope { run, point };

struct Key {
  ParameterSpec spec;  // name: dotted
  KeyScope scope = KeyScope::point;
  const char* automatic = "";     // a number's word: "auto" ...
  std::int64_t automatic_is = 0;  // ... and what it stands for
  void (*apply)(Config& config, Setup& setup, const ParameterValue& value) = nullptr;
};
std::span<const Key> config_keys();
const Key* find_key(const std::string& dotted);

/// The value of a key, or a sentence in `problem`. Takes the automatic word; '-' and '_' are the same in choices.
std::optional<ParameterValue> parse_value(const ParameterSpec& spec, const std::string& text, std::string& problem);
std::optional<ParameterValue> parse_value(const Key& key, const std::string& text, std::string& problem);
/// A value as it is written in a resolved config.
std::string value_text(const Key& key, const ParameterValue& value);
std::string value_text(const ParameterValue& value);

/// Names that may stand at the top of a config.
std::vector<std::string> top_level_keys();

/// docs/config.md: all keys, models, datasets and variants from their registries.
std::string config_markdown();

}  // namespace ringmaster::experiment
