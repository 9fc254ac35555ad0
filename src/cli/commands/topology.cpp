// SPDX-License-Identifier: Apache-2.0
// `ringmaster topology`: this machine as hwloc sees it, or one from a file or a description.
#include "topology/machine.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>

#include "base/error.hpp"
#include "cli/command.hpp"

namespace ringmaster::cli {
namespace {

struct Options {
  std::string xml;
  std::string synthetic;
  std::string export_path;
};

std::string source_of(const Options& options) {
  if (!options.xml.empty()) return "xml:" + options.xml;
  if (!options.synthetic.empty()) return "synthetic:" + options.synthetic;
  return {};
}

int show(const Options& options) {
  const topology::MachineView view = topology::view_machine(source_of(options));
  if (!options.export_path.empty()) {
    std::ofstream file(options.export_path);
    file << view.xml;
    if (!file.flush()) throw_os_error("write", options.export_path);
  }
  if (!view.processor.empty()) fmt::print("{}\n", view.processor);
  fmt::print("{}\n\n{}", view.line, view.tree);
  return success;
}

std::function<int()> install(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::Option* xml = app.add_option("--xml", options->xml, "read hwloc's XML instead of this machine");
  app.add_option("--synthetic", options->synthetic, "a description, for example \"pack:2 core:4 pu:2\"")->excludes(xml);
  app.add_option("--export", options->export_path, "also write hwloc's XML to this file");
  return [options] { return show(*options); };
}

}  // namespace

const Command& topology_command() {
  static const Command command{"topology", "show this machine's packages, cores, caches and devices", false, install};
  return command;
}

}  // namespace ringmaster::cli
