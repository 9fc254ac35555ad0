// SPDX-License-Identifier: Apache-2.0
#include "cli/outputs.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "base/error.hpp"
#include "base/registry.hpp"
#include "report/exporter.hpp"

namespace ringmaster::cli {
namespace {

// Under mpirun a rank's output goes through a pseudo terminal of the launcher whatever is behind it: there scripts/run
// says with RINGMASTER_COLOR what it saw.
report::ExportOptions terminal_options() {
  report::ExportOptions options;
  const bool launched = std::getenv("OMPI_COMM_WORLD_RANK") != nullptr || std::getenv("PMI_RANK") != nullptr;
  const bool terminal = (!launched && isatty(STDOUT_FILENO) != 0) || std::getenv("RINGMASTER_COLOR") != nullptr;
  options.color = terminal && std::getenv("NO_COLOR") == nullptr;
  if (const char* columns = std::getenv("COLUMNS")) {
    const int width = std::atoi(columns);
    if (width >= 40) options.width = width;
  }
  return options;
}

}  // namespace

void add_output_options(CLI::App& app, Outputs& outputs) {
  app.add_option("--json", outputs.json, "everything as JSON to this file; - is the standard output");
  app.add_option("--csv", outputs.csv, "a row a point to this file; - is the standard output");
  app.add_flag("--quiet", outputs.quiet, "no table on the terminal");
}

void refuse_shared(const std::vector<Destination>& destinations) {
  for (auto one = destinations.begin(); one != destinations.end(); ++one) {
    for (auto other = destinations.begin(); other != one; ++other) {
      if (one->path.empty() || one->path != other->path) continue;
      const std::string place = one->path == "-" ? "the standard output" : "'" + one->path + "'";
      throw UserError(fmt::format("{} and {} both go to {}", other->flag, one->flag, place),
                      "give each a file of its own");
    }
  }
}

void check_outputs(const Outputs& outputs) { refuse_shared({{"--json", outputs.json}, {"--csv", outputs.csv}}); }

bool standard_output_taken(const Outputs& outputs) { return outputs.json == "-" || outputs.csv == "-"; }

void write_format(const result::Run& run, const std::string& format, const std::string& path) {
  const report::Exporter& exporter = require_entry(report::exporters(), format, "format");
  if (path == "-") {
    exporter.write(run, terminal_options(), std::cout);
    std::cout.flush();
    return;
  }
  std::ofstream file(path, std::ios::binary);
  if (!file) throw_os_error("open", path);
  exporter.write(run, {}, file);
  file.close();
  if (!file) throw_os_error("write", path);
}

void write_outputs(const result::Run& run, const Outputs& outputs) {
  if (!outputs.quiet && !standard_output_taken(outputs)) write_format(run, "terminal", "-");
  if (!outputs.json.empty()) write_format(run, "json", outputs.json);
  if (!outputs.csv.empty()) write_format(run, "csv", outputs.csv);
}

}  // namespace ringmaster::cli
