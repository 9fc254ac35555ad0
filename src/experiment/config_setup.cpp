// SPDX-License-Identifier: Apache-2.0
#include "experiment/config_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/registry.hpp"
#include "base/text.hpp"
#include "experiment/config_keys.hpp"

namespace ringmaster::experiment {
namespace {

constexpr std::size_t most_layers = 4096;
const char* const layer_example = "such as {flops: 1e6, parameters: 1000, bytes: 4000}";

std::string parameters_text(const Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters.values()) text += ", " + name + ": " + yaml_scalar(value_text(value));
  return text;
}

std::string layers_text(const std::vector<model::LayerShape>& layers) {
  std::string text;
  for (const model::LayerShape& layer : layers) {
    text += fmt::format("{}{{flops: {}, parameters: {}, bytes: {}}}", text.empty() ? "" : ", ", layer.flops,
                        layer.parameters, layer.bytes);
  }
  return "[" + text + "]";
}

/// The parameters that are not at their default, as "(form=one-shot,k=2)".
std::string given_text(const Parameters& parameters, std::span<const ParameterSpec> specs) {
  const Parameters defaults = default_parameters(specs);
  std::string text;
  for (const auto& [name, value] : parameters.values()) {
    if (defaults.values().at(name) == value) continue;
    text += (text.empty() ? "" : ",") + name + "=" + value_text(value);
  }
  return text.empty() ? text : "(" + text + ")";
}

bool starts_with(const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; }

/// A model's map with its kind in it.
Node model_map(const Node& node) {
  if (node.kind != NodeKind::scalar) return node;
  Node map{NodeKind::map, node.place, {}, {}, {}};
  map.set("kind", node.place, node);
  return map;
}

}  // namespace

Node collective_map(const Node& node) {
  if (node.kind != NodeKind::scalar) return node;
  const std::size_t open = node.text.find('(');
  Node parameters{NodeKind::map, node.place, {}, {}, {}};
  if (open != std::string::npos) {
    if (node.text.back() != ')') return node;
    std::string rest = node.text.substr(open + 1, node.text.size() - open - 2);
    while (!trimmed(rest).empty()) {
      const std::size_t comma = rest.find(',');
      const std::string part = rest.substr(0, comma);
      const std::size_t equals = part.find('=');
      if (equals == std::string::npos) return node;
      Node value{NodeKind::scalar, node.place, trimmed(part.substr(equals + 1)), {}, {}};
      parameters.set(trimmed(part.substr(0, equals)), node.place, std::move(value));
      rest = comma == std::string::npos ? std::string() : rest.substr(comma + 1);
    }
  }
  Node map{NodeKind::map, node.place, {}, {}, {}};
  map.set(trimmed(node.text.substr(0, open)), node.place, std::move(parameters));
  return map;
}

void SetupReader::complain(const Place& place, std::string text, std::string hint) {
  complaints_.push_back({place, std::move(text), std::move(hint)});
}

std::vector<std::string> SetupReader::names_below(const std::string& prefix) const {
  if (prefix.empty()) return top_level_keys();
  std::vector<std::string> names;
  for (const Key& key : config_keys()) {
    const std::string dotted = key.spec.name;
    if (!starts_with(dotted, prefix)) continue;
    const std::string name = dotted.substr(prefix.size(), dotted.find('.', prefix.size()) - prefix.size());
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (prefix == "communication.") names.insert(names.end(), {"collective", "rank_order"});
  return names;
}

void SetupReader::read_section(const Node& section, const std::string& prefix) {
  for (const NodeEntry& entry : section.entries) {
    const bool structure = entry.key == "sweep" || entry.key == "workloads" || entry.key == "assert";
    if (!prefix.empty() || !structure) read_entry(entry, prefix + entry.key);
  }
}

void SetupReader::read_entry(const NodeEntry& entry, const std::string& dotted) {
  if (dotted == "model") return read_model(entry.value, entry.key_place);
  if (dotted == "communication.collective") return read_collective(entry.value);
  if (dotted == "communication.rank_order") return read_rank_order(entry.value);
  if (entry.key.find('.') == std::string::npos) {
    if (find_key(dotted) != nullptr) return read_row(entry, dotted);
    if (!names_below(dotted + ".").empty()) {
      const bool automatic = dotted == "parallel" && entry.value.text == "auto";
      if (entry.value.kind == NodeKind::map) return read_section(entry.value, dotted + ".");
      if (entry.value.kind == NodeKind::null || automatic) return;
      return complain(entry.value.place, fmt::format("'{}' expects a map, got {}", dotted, kind_name(entry.value.kind)),
                      "with keys of " + join(names_below(dotted + "."), ", "));
    }
    if (starts_with(dotted, "data.")) return data_parameters_.push_back(entry);
  }
  const std::string prefix = dotted.substr(0, dotted.size() - entry.key.size());
  const std::string where = prefix.empty() ? "" : fmt::format(" in '{}'", prefix.substr(0, prefix.size() - 1));
  complain(entry.key_place, fmt::format("unknown key '{}'{}", entry.key, where),
           suggestion(entry.key, names_below(prefix)));
}

void SetupReader::read_row(const NodeEntry& entry, const std::string& dotted) {
  const Key& key = *find_key(dotted);
  if (entry.value.kind != NodeKind::scalar) {
    return complain(entry.value.place, fmt::format("{} expects a value, got {}", dotted, kind_name(entry.value.kind)),
                    describe(key.spec));
  }
  std::string problem;
  const auto value = parse_value(key, entry.value.text, problem);
  if (!value) return complain(entry.value.place, dotted + " " + problem, describe(key.spec));
  given_[dotted] = *value;
}

Parameters SetupReader::read_parameters(std::span<const ParameterSpec> specs, const std::vector<NodeEntry>& given,
                                        const std::string& owner) {
  Parameters parameters = default_parameters(specs);
  std::vector<std::string> names;
  for (const ParameterSpec& spec : specs) names.emplace_back(spec.name);
  for (const NodeEntry& entry : given) {
    const auto same = [&](const ParameterSpec& spec) { return entry.key == spec.name; };
    const auto spec = std::find_if(specs.begin(), specs.end(), same);
    if (spec == specs.end()) {
      complain(entry.key_place, fmt::format("{} has no parameter '{}'", owner, entry.key),
               names.empty() ? "it has none" : suggestion(entry.key, names));
      continue;
    }
    std::string problem = fmt::format("expects a value, got {}", kind_name(entry.value.kind));
    std::optional<ParameterValue> value;
    if (entry.value.kind == NodeKind::scalar) value = parse_value(*spec, entry.value.text, problem);
    if (value) {
      parameters.set(entry.key, *value);
    } else {
      complain(entry.value.place, entry.key + " " + problem, describe(*spec));
    }
  }
  return parameters;
}

// A name from configs/models stands where a kind may stand; what else is in the map lies over it.
void SetupReader::read_model(const Node& node, const Place& place) {
  Node map = model_map(node);
  if (map.kind != NodeKind::map)
    return complain(place, "'model' expects a name or a map, got " + kind_name(map.kind), "such as model: mlp");
  const Node* kind = map.find("kind");
  if (kind == nullptr || kind->kind != NodeKind::scalar) {
    return complain(map.place, "'model' has no 'kind'", suggestion("", entry_names(model::models())));
  }
  out_.setup.model_name = kind->text;
  if (find_entry(model::models(), kind->text) == nullptr) {
    const auto stored = files_.model ? files_.model(kind->text) : std::nullopt;
    if (!stored) {
      std::vector<std::string> names = entry_names(model::models());
      for (const std::string& name : files_.model_names ? files_.model_names() : std::vector<std::string>()) {
        names.push_back(name);
      }
      return complain(kind->place, fmt::format("unknown model '{}'", kind->text), suggestion(kind->text, names));
    }
    Node base = model_map(read_yaml(stored->first, stored->second, complaints_));
    const Node* base_kind = base.find("kind");
    if (base_kind == nullptr || find_entry(model::models(), base_kind->text) == nullptr) {
      return complain({stored->second, 1, 1}, "is no model: it needs a 'kind'",
                      suggestion("", entry_names(model::models())));
    }
    const Node its_kind = *base_kind;
    merge(base, map);
    base.set("kind", its_kind.place, its_kind);
    map = std::move(base);
  }
  read_model_map(map, place);
}

void SetupReader::read_model_map(const Node& map, const Place& place) {
  const std::string& kind = map.find("kind")->text;
  const model::ModelEntry& entry = *find_entry(model::models(), kind);
  const std::size_t before = complaints_.size();
  std::vector<NodeEntry> parameters;
  for (const NodeEntry& given : map.entries) {
    if (given.key == "kind") continue;
    if (given.key == "layers" && kind == "layers") {
      read_layers(given.value);
    } else {
      parameters.push_back(given);
    }
  }
  model::ModelChoice& choice = out_.setup.model;
  choice.kind = kind;
  choice.parameters = read_parameters(entry.parameters, parameters, fmt::format("model '{}'", kind));
  out_.model_text = "{kind: " + kind + parameters_text(choice.parameters) +
                    (kind == "layers" ? ", layers: " + layers_text(choice.layers) : "") + "}";
  if (complaints_.size() != before) return;
  if (const Verdict verdict = entry.supports(choice); !verdict) {
    complain(map.place.line > 0 ? map.place : place, fmt::format("model '{}': {}", kind, verdict.reason), verdict.hint);
  }
}

void SetupReader::read_layers(const Node& list) {
  if (list.kind != NodeKind::list) {
    return complain(list.place, "layers expects a list of maps, got " + kind_name(list.kind), layer_example);
  }
  if (list.items.size() > most_layers)
    return complain(list.place, fmt::format("more than {} layers", most_layers), "join layers that are alike");
  for (const Node& item : list.items) {
    model::LayerShape layer;
    if (item.kind != NodeKind::map)
      complain(item.place, "a layer is a map, got " + kind_name(item.kind), layer_example);
    for (const NodeEntry& entry : item.entries) {
      const std::optional<double> figure = read_layer_figure(entry);
      if (!figure) continue;
      if (entry.key == "flops") layer.flops = *figure;
      if (entry.key == "parameters") layer.parameters = static_cast<std::int64_t>(*figure);
      if (entry.key == "bytes") layer.bytes = static_cast<std::int64_t>(*figure);
    }
    out_.setup.model.layers.push_back(layer);
  }
}

std::optional<double> SetupReader::read_layer_figure(const NodeEntry& entry) {
  if (entry.key != "flops" && entry.key != "parameters" && entry.key != "bytes") {
    complain(entry.key_place, fmt::format("a layer has no '{}'", entry.key),
             suggestion(entry.key, {"flops", "parameters", "bytes"}));
    return std::nullopt;
  }
  const ParameterSpec spec{entry.key.c_str(), ParameterType::real, "", "0", 0, 1e15, ""};
  std::string problem = "expects a value, got " + kind_name(entry.value.kind);
  std::optional<ParameterValue> value;
  if (entry.value.kind == NodeKind::scalar) value = parse_parameter(spec, entry.value.text, problem);
  if (!value) {
    complain(entry.value.place, entry.key + " " + problem, describe(spec));
    return std::nullopt;
  }
  return *std::get_if<double>(&*value);
}

void SetupReader::read_data(const Node& tree) {
  data::DataChoice& choice = out_.setup.data;
  const Node* section = tree.find("data");
  const auto place_of = [&](const char* name) {
    const Node* node = section != nullptr ? section->find(name) : nullptr;
    return node != nullptr ? node->place : section != nullptr ? section->place : tree.place;
  };
  if (choice.kind == "auto") choice.kind = choice.path.empty() ? "synthetic" : "text";
  out_.values["data.kind"] = choice.kind;
  const data::DatasetEntry* entry = find_entry(data::datasets(), choice.kind);
  if (entry == nullptr) {
    return complain(place_of("kind"), fmt::format("unknown dataset '{}'", choice.kind),
                    suggestion(choice.kind, entry_names(data::datasets())));
  }
  choice.parameters = read_parameters(entry->parameters, data_parameters_, fmt::format("dataset '{}'", choice.kind));
  for (const auto& [name, value] : choice.parameters.values()) out_.values["data." + name] = value_text(value);
  if (choice.path.empty()) return;
  const std::filesystem::path path(choice.path);
  if (path.is_relative() && !folder_.empty()) choice.path = (folder_ / path).lexically_normal().string();
  if (files_.exists && !files_.exists(choice.path)) {
    complain(place_of("path"), fmt::format("data.path: '{}' does not exist", choice.path),
             "relative paths stand from the config's folder");
  }
}

void SetupReader::read_collective(const Node& node) {
  const Node map = collective_map(node);
  if (map.kind != NodeKind::map || map.entries.size() != 1) {
    return complain(node.place, "communication.collective expects one variant",
                    "such as ring, or direct(form=one-shot), or {direct: {form: one-shot}}");
  }
  const NodeEntry& chosen = map.entries.front();
  collective::CarriedVariant carried;
  try {
    carried = collective::require_carried(chosen.key);
  } catch (const UserError& error) {
    for (const Complaint& each : error.complaints()) complain(chosen.key_place, each.text, each.hint);
    return;
  }
  if (chosen.value.kind == NodeKind::scalar || chosen.value.kind == NodeKind::list) {
    return complain(chosen.value.place, fmt::format("'{}' expects a map of parameters", chosen.key),
                    "such as {direct: {form: one-shot}}");
  }
  collective::AllreduceChoice& choice = out_.setup.train.allreduce;
  const collective::VariantInfo& info = carried.variant;
  choice.algorithm = info.name;
  choice.transport = carried.transport;
  choice.parameters = read_parameters(info.parameters, chosen.value.entries, fmt::format("'{}'", info.name));
  out_.collective_text = collective::carried_name(choice) + given_text(choice.parameters, info.parameters);
}

collective::AllreduceChoice SetupReader::read_choice(const Node& node) {
  read_collective(node);
  return out_.setup.train.allreduce;
}

void SetupReader::read_rank_order(const Node& node) {
  if (node.kind == NodeKind::scalar && node.text == "auto") return;
  if (node.kind != NodeKind::list)
    return complain(node.place, "communication.rank_order expects a list of ranks or auto",
                    "each of 0 .. ranks - 1 once");
  const ParameterSpec spec{
      "rank_order", ParameterType::integer, "", "0", 0, static_cast<double>(node.items.size()) - 1, ""};
  std::set<std::int64_t> seen;
  std::string text;
  for (const Node& item : node.items) {
    std::string problem = "expects an integer, got " + kind_name(item.kind);
    std::optional<ParameterValue> value;
    if (item.kind == NodeKind::scalar) value = parse_parameter(spec, item.text, problem);
    if (!value) {
      complain(item.place, "communication.rank_order " + problem, "each of 0 .. ranks - 1 once");
      continue;
    }
    const std::int64_t rank = *std::get_if<std::int64_t>(&*value);
    if (!seen.insert(rank).second) {
      complain(item.place, fmt::format("communication.rank_order has {} twice", rank), "each of 0 .. ranks - 1 once");
    }
    out_.setup.train.allreduce.rank_order.push_back(static_cast<int>(rank));
    text += (text.empty() ? "" : ", ") + std::to_string(rank);
  }
  if (!text.empty()) out_.values["communication.rank_order"] = "[" + text + "]";
}

void SetupReader::read_plants(const Node& tree) {
  const auto slow = given_.find("plant.slow_rank_s");
  if (slow == given_.end() || *std::get_if<double>(&slow->second) == 0) return;
  parallel::Plant& plant = out_.setup.train.plant;
  if (plant.sleep_s > 0) {
    const Node* section = tree.find("plant");
    complain(section->place, "plant.slow_rank_s and plant.sleep_s exclude each other", "one sleep a run");
    return;
  }
  const auto rank = given_.find("plant.slow_rank");
  plant.rank = rank == given_.end() ? 0 : static_cast<int>(*std::get_if<std::int64_t>(&rank->second));
  plant.sleep_s = *std::get_if<double>(&slow->second);
  plant.label = Label::forward;
}

ReadSetup SetupReader::read(const Node& tree, Config& config) {
  given_.clear();
  data_parameters_.clear();
  out_ = {};
  read_section(tree, "");
  for (const Key& key : config_keys()) {
    const auto given = given_.find(key.spec.name);
    std::string problem;
    const ParameterValue value =
        given != given_.end() ? given->second : parse_value(key, key.spec.default_text, problem).value();
    if (key.apply != nullptr) key.apply(config, out_.setup, value);
    out_.values[key.spec.name] = value_text(key, value);
  }
  read_data(tree);
  read_plants(tree);
  if (tree.find("model") == nullptr) complain(tree.place, "'model' is missing", "the smallest config is: model: mlp");
  const Node* communication = tree.find("communication");
  if (communication == nullptr || communication->find("collective") == nullptr) {
    read_collective(Node{NodeKind::scalar, tree.place, "ring", {}, {}});
  }
  out_.setup.train.seed = out_.setup.data.seed = out_.setup.loader.seed = config.seed;
  out_.setup.loader.batch = out_.setup.train.batch;
  return out_;
}

}  // namespace ringmaster::experiment
