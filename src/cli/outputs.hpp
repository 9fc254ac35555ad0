// SPDX-License-Identifier: Apache-2.0
// Where a subcommand's result goes: terminal, --json, --csv. Shared by run, bench and report.
#pragma once

#include <string>

#include "result/schema.hpp"

namespace CLI {
class App;
}

namespace ringmaster::cli {

struct Outputs {
  std::string json;  // file, or "-" for the standard output (which then carries nothing else)
  std::string csv;
  bool quiet = false;
};

void add_output_options(CLI::App& app, Outputs& outputs);

/// Writes all that was asked for. Throws SystemError where a file cannot be written.
void write_outputs(const result::Run& run, const Outputs& outputs);

/// One exporter's text to a file ("-": standard output).
void write_format(const result::Run& run, const std::string& format, const std::string& path);

}  // namespace ringmaster::cli
