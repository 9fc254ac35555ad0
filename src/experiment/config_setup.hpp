// SPDX-License-Identifier: Apache-2.0
// From a tree to typed values: one setting of everything (a Setup) with its resolved text, all mistakes collected.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiment/config.hpp"
#include "experiment/yaml_reader.hpp"

namespace ringmaster::experiment {

/// What the reader may ask of the world: nothing, where bytes come from a fuzzer.
struct ConfigFiles {
  /// The text of a model from configs/models and the file it is in, or nothing.
  std::function<std::optional<std::pair<std::string, std::string>>(const std::string& name)> model;
  std::function<std::vector<std::string>()> model_names;
  std::function<bool(const std::string& path)> exists;
};

/// What is read once per point.
struct ReadSetup {
  Setup setup;
  std::string model_text;                     // flow YAML of the model, complete
  std::string collective_text;                // "direct(form=one_shot)"
  std::map<std::string, std::string> values;  // other keys with their text, complete
};

class SetupReader {
 public:
  SetupReader(std::string folder, const ConfigFiles& files, std::vector<Complaint>& complaints)
      : folder_(std::move(folder)), files_(files), complaints_(complaints) {}

  /// Reads a whole tree (less sweep, workloads and assert). Run-scoped keys go to `config`.
  ReadSetup read(const Node& tree, Config& config);

  /// One variant with its parameters, as communication.collective has it.
  collective::AllreduceChoice read_choice(const Node& node);

  void complain(const Place& place, std::string text, std::string hint = {});

 private:
  void read_section(const Node& section, const std::string& prefix);
  void read_entry(const NodeEntry& entry, const std::string& dotted);
  void read_row(const NodeEntry& entry, const std::string& dotted);
  void read_model(const Node& node, const Place& place);
  void read_model_map(const Node& map, const Place& place);
  void read_layers(const Node& list);
  std::optional<double> read_layer_figure(const NodeEntry& entry);
  void read_data(const Node& tree);
  void read_collective(const Node& node);
  void read_rank_order(const Node& node);
  void read_plants(const Node& tree);
  Parameters read_parameters(std::span<const ParameterSpec> specs, const std::vector<NodeEntry>& given,
                             const std::string& owner);
  std::vector<std::string> names_below(const std::string& prefix) const;

  std::string folder_;
  const ConfigFiles& files_;
  std::vector<Complaint>& complaints_;
  std::map<std::string, ParameterValue> given_;
  std::vector<NodeEntry> data_parameters_;
  ReadSetup out_;
};

/// "direct(form=one_shot)" as a map {direct: {form: one_shot}}; the node itself if it is no such text.
Node collective_map(const Node& node);

}  // namespace ringmaster::experiment
