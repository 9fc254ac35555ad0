// SPDX-License-Identifier: Apache-2.0
// parse_config with what it may ask of the file system given: tests and the fuzzer read from memory only.
#pragma once

#include <string>
#include <vector>

#include "experiment/config.hpp"
#include "experiment/config_setup.hpp"

namespace ringmaster::experiment {

/// As parse_config; `files` answers for models and data paths.
Config parse_config(const std::string& text, const std::string& file, const std::vector<std::string>& overrides,
                    const ConfigFiles& files);

/// The real file system, for a config in that folder.
ConfigFiles files_around(const std::string& folder);

}  // namespace ringmaster::experiment
