// SPDX-License-Identifier: Apache-2.0
// Where a subcommand's result goes: terminal, --json, --csv. Shared by run, bench and report.
#pragma once

#include <string>
#include <vector>

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

/// A flag and the file that was given to it; "": none.
struct Destination {
  const char* flag;
  std::string path;
};

/// Refuses two outputs to the same place, before anything is measured.
void refuse_shared(const std::vector<Destination>& destinations);
void check_outputs(const Outputs& outputs);

/// Whether the standard output carries a file: it then carries nothing else.
bool standard_output_taken(const Outputs& outputs);

/// Writes all that was asked for. Throws SystemError where a file cannot be written.
void write_outputs(const result::Run& run, const Outputs& outputs);

/// One exporter's text to a file ("-": standard output).
void write_format(const result::Run& run, const std::string& format, const std::string& path);

}  // namespace ringmaster::cli
