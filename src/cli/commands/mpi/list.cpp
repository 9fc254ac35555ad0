// SPDX-License-Identifier: Apache-2.0
// `ringmaster list [WHAT [NAME]]`: everything that can be named in a config, from the registries.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "base/registry.hpp"
#include "cli/command.hpp"
#include "collective/allreduce.hpp"
#include "data/dataset.hpp"
#include "experiment/config_keys.hpp"
#include "model/model.hpp"
#include "report/exporter.hpp"
#include "schedule/builders.hpp"
#include "schedule/verifier.hpp"

namespace ringmaster::cli {
namespace {

struct Options {
  std::string what;
  std::string name;
  int ranks = 0;  // 0: not given
  std::vector<std::string> parameters;
};

void print_specs(std::span<const ParameterSpec> specs) {
  for (const ParameterSpec& spec : specs) fmt::print("      {}: {}  {}\n", spec.name, describe(spec), spec.help);
}

template <class Row>
void print_row(const Row& row) {
  fmt::print("  {:22} {}\n", row.name, row.summary);
  print_specs(row.parameters);
}

void list_variants() {
  fmt::print("allreduce variants (communication.collective)\n");
  for (const collective::VariantInfo& variant : collective::allreduce_variants()) print_row(variant);
}

void list_models() {
  fmt::print("models (model.kind)\n");
  for (const model::ModelEntry* entry : model::models()) print_row(*entry);
}

void list_datasets() {
  fmt::print("datasets (data.kind)\n");
  for (const data::DatasetEntry* entry : data::datasets()) print_row(*entry);
}

void list_formats() {
  fmt::print("formats of a report\n");
  for (const report::Exporter* entry : report::exporters()) fmt::print("  {:22} {}\n", entry->name, entry->summary);
}

struct Listing {
  const char* name;
  void (*print)();
};
constexpr Listing listings[] = {
    {"collectives", list_variants}, {"models", list_models}, {"datasets", list_datasets}, {"formats", list_formats}};

/// "form=one_shot" -> the entry's parameters.
Parameters parse_parameters(const schedule::Builder& builder, const std::vector<std::string>& given) {
  Parameters parameters = default_parameters(builder.parameters);
  std::vector<std::string> names;
  for (const ParameterSpec& spec : builder.parameters) names.emplace_back(spec.name);
  for (const std::string& text : given) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    bool found = false;
    for (const ParameterSpec& spec : builder.parameters) {
      if (name != spec.name) continue;
      std::string problem;
      const auto parsed = parse_parameter(spec, value, problem);
      if (!parsed) throw UserError(name + ": " + problem, describe(spec));
      parameters.set(name, *parsed);
      found = true;
    }
    if (!found)
      throw UserError("'" + std::string(builder.name) + "' has no parameter '" + name + "'",
                      names.empty() ? "it has none" : suggestion(name, names));
  }
  return parameters;
}

int draw_schedule(const Options& options) {
  const schedule::Builder& builder = require_entry(schedule::builders(), std::string_view(options.name), "schedule");
  schedule::BuildContext context;
  context.ranks = options.ranks > 0 ? options.ranks : 4;
  context.parameters = parse_parameters(builder, options.parameters);
  const schedule::Schedule made = schedule::build(builder.name, context);
  const schedule::Counts counts = schedule::count(made);
  fmt::print("{}\n", schedule::draw(made));
  fmt::print("busiest rank sends {:.4g} vectors in {} messages; {} rounds\n", counts.busiest_sent(),
             *std::max_element(counts.messages_sent.begin(), counts.messages_sent.end()), counts.rounds);
  const schedule::Proof proof = schedule::verify(made);
  for (const std::string& problem : proof.problems) fmt::print("wrong: {}\n", problem);
  if (proof.ok()) fmt::print("verified: complete, bit-identical on every rank, in place and out of place\n");
  return proof.ok() ? success : failure;
}

void require_listing(const std::string& what) {
  std::vector<std::string> names{"schedule", "config"};
  for (const Listing& listing : listings) names.emplace_back(listing.name);
  if (what.empty() || std::find(names.begin(), names.end(), what) != names.end()) return;
  throw UserError("unknown list '" + what + "'", suggestion(what, names));
}

/// What only a drawing takes must not be ignored elsewhere.
void refuse_drawing_options(const Options& options) {
  const std::string where = options.what.empty() ? "list" : "list " + options.what;
  const std::string hint = "only a drawing takes that: ringmaster list schedule NAME";
  if (!options.name.empty()) throw UserError(fmt::format("{} takes no name, got '{}'", where, options.name), hint);
  if (options.ranks > 0) throw UserError(where + " takes no --ranks", hint);
  if (!options.parameters.empty()) throw UserError(where + " takes no --parameter", hint);
}

int list(const Options& options) {
  require_listing(options.what);
  if (options.what == "schedule" && !options.name.empty()) return draw_schedule(options);
  refuse_drawing_options(options);
  if (options.what == "schedule") {
    list_variants();
    return success;
  }
  if (options.what == "config") {
    fmt::print("{}", experiment::config_markdown());
    return success;
  }
  for (const Listing& listing : listings) {
    if (options.what.empty() || options.what == listing.name) listing.print();
  }
  return success;
}

std::function<int()> install(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("what", options->what, "collectives, models, datasets, formats, config, schedule (most without it)");
  app.add_option("name", options->name, "with schedule: the one to draw");
  app.add_option("--ranks", options->ranks, "with schedule: rank count (default 4)")->check(CLI::Range(1, 64));
  app.add_option("--parameter", options->parameters, "with schedule: name=value");
  return [options] { return list(*options); };
}

}  // namespace

const Command& list_command() {
  static const Command command{"list", "name what a config can name; draw a schedule", install};
  return command;
}

}  // namespace ringmaster::cli
