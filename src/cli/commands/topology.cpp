// SPDX-License-Identifier: Apache-2.0
// `ringmaster topology`: this machine as hwloc sees it, or one from a file or a description.
#include "topology/machine.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "cli/command.hpp"

namespace ringmaster::cli {
namespace {

struct Options {
  std::string xml;
  std::string synthetic;
  std::string export_path;
  std::string json;
};

std::string source_of(const Options& options) {
  if (!options.xml.empty()) return "xml:" + options.xml;
  if (!options.synthetic.empty()) return "synthetic:" + options.synthetic;
  return {};
}

std::string to_json(const topology::MachineView& view) {
  const nlohmann::ordered_json json{{"processor", view.processor},
                                    {"packages", view.packages},
                                    {"numa_nodes", view.numa_nodes},
                                    {"cores", view.cores},
                                    {"processing_units", view.processing_units},
                                    {"memory_gb", view.memory_gb},
                                    {"line", view.line}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw_os_error("write", path);
}

int show(const Options& options) {
  const topology::MachineView view = topology::view_machine(source_of(options));
  if (!options.export_path.empty()) write_text(options.export_path, view.xml);
  if (options.json == "-") {
    fmt::print("{}", to_json(view));
    return success;
  }
  if (!options.json.empty()) write_text(options.json, to_json(view));
  if (!view.processor.empty()) fmt::print("{}\n", view.processor);
  fmt::print("{}\n\n{}", view.line, view.tree);
  return success;
}

std::function<int()> install(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::Option* xml = app.add_option("--xml", options->xml, "read hwloc's XML instead of this machine");
  app.add_option("--synthetic", options->synthetic, "a description, for example \"pack:2 core:4 pu:2\"")->excludes(xml);
  app.add_option("--export", options->export_path, "also write hwloc's XML to this file");
  app.add_option("--json", options->json, "as JSON to this file; - is the standard output");
  return [options] { return show(*options); };
}

}  // namespace

const Command& topology_command() {
  static const Command command{"topology", "show this machine's packages, cores, caches and devices", install};
  return command;
}

}  // namespace ringmaster::cli
