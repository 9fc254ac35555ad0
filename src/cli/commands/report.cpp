// SPDX-License-Identifier: Apache-2.0
// `ringmaster report FOLDER`: a stored run again, in any format; --publish makes a copy fit to be committed.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/outputs.hpp"
#include "report/exporter.hpp"
#include "result/store.hpp"

namespace ringmaster::cli {
namespace {

struct Options {
  std::string folder;
  std::string html;
  std::string trace;
  std::string publish;
  bool overwrite = false;
  Outputs outputs;
};

/// The store's own hints speak of --output, which is not a flag of this command.
result::Store publish_store(const std::string& folder, bool overwrite) {
  try {
    return result::Store::create(folder, overwrite);
  } catch (const UserError& error) {
    std::vector<Complaint> complaints = error.complaints();
    for (Complaint& complaint : complaints) {
      const bool replaceable = complaint.hint.find("--overwrite") != std::string::npos;
      complaint.hint = replaceable ? "choose another folder for --publish, or replace what is there with --overwrite"
                                   : "choose another folder for --publish";
    }
    throw UserError(std::move(complaints));
  }
}

/// The whole folder anew from the cleaned values: nothing of the original files is copied.
void publish(const result::Run& run, const std::string& folder, bool overwrite) {
  const result::Run clean = result::published(run);
  result::Store store = publish_store(folder, overwrite);
  for (const result::Block& block : clean.blocks) store.append(block);
  for (const result::PointEnd& end : clean.ends) store.append(end);
  for (const result::BenchRow& row : clean.rows) store.append(row);
  report::write_exports(clean, store);
  store.write(clean);
}

int show(const Options& options) {
  Outputs outputs = options.outputs;
  refuse_shared(
      {{"--json", outputs.json}, {"--csv", outputs.csv}, {"--html", options.html}, {"--trace", options.trace}});
  const bool taken = standard_output_taken(outputs) || options.html == "-" || options.trace == "-";
  outputs.quiet = outputs.quiet || taken;
  const result::Run run = result::read_run(options.folder);
  write_outputs(run, outputs);
  if (!options.html.empty()) write_format(run, "html", options.html);
  if (!options.trace.empty()) write_format(run, "trace", options.trace);
  if (options.publish.empty()) return success;
  publish(run, options.publish, options.overwrite);
  if (!taken) fmt::print("published: {}\n", options.publish);
  return success;
}

std::function<int()> install(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("folder", options->folder, "the run's folder, or its run.json")->required();
  app.add_option("--html", options->html, "a self-contained page to this file");
  app.add_option("--trace", options->trace, "a Chrome/Perfetto trace to this file");
  app.add_option("--publish", options->publish, "a copy without hosts, users and paths into this folder");
  app.add_flag("--overwrite", options->overwrite, "replace what --publish finds there");
  add_output_options(app, options->outputs);
  return [options] { return show(*options); };
}

}  // namespace

const Command& report_command() {
  static const Command command{"report", "show a stored run again, in any format", install};
  return command;
}

}  // namespace ringmaster::cli
