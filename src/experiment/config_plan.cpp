// SPDX-License-Identifier: Apache-2.0
#include "experiment/config_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "experiment/config_keys.hpp"

namespace ringmaster::experiment {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

bool is_communication(const std::string& key) { return key.rfind("communication.", 0) == 0; }
/// Keys that mean nothing to the library's collective.
bool is_schedule_only(const std::string& key) {
  return key == "communication.collective" || key == "communication.segment" || key == "communication.rank_order";
}

Settings without(const Settings& settings, const std::function<bool(const std::string&)>& drop) {
  Settings kept;
  for (const auto& setting : settings) {
    if (!drop(setting.first)) kept.push_back(setting);
  }
  return kept;
}

/// "batch=8", by the last word of a key; by the whole key where two axes end alike.
std::string setting_name(const std::string& key, const std::string& value, const Settings& all) {
  const auto last = [](const std::string& dotted) { return dotted.substr(dotted.rfind('.') + 1); };
  const auto alike = std::count_if(all.begin(), all.end(), [&](const auto& s) { return last(s.first) == last(key); });
  return (alike > 1 ? key : last(key)) + "=" + value;
}

std::string point_name(const std::string& head, const Settings& settings) {
  std::string name = head;
  for (const auto& [key, value] : settings) {
    if (key != "communication.collective") name += " " + setting_name(key, value, settings);
  }
  return name;
}

/// A value of a swept key as it is written.
std::string flow_text(const Node& node) {
  std::string text;
  switch (node.kind) {
    case NodeKind::null: return "null";
    case NodeKind::scalar: return yaml_scalar(node.text);
    case NodeKind::list:
      for (const Node& item : node.items) text += (text.empty() ? "" : ", ") + flow_text(item);
      return "[" + text + "]";
    case NodeKind::map:
      for (const NodeEntry& entry : node.entries) {
        text += (text.empty() ? "" : ", ") + yaml_scalar(entry.key) + ": " + flow_text(entry.value);
      }
      return "{" + text + "}";
  }
  return text;
}

std::string setting_text(const ReadSetup& read, const std::string& key, const Node& node) {
  if (key == "communication.collective") return read.collective_text;
  if (key == "model" && node.kind == NodeKind::scalar) return node.text;
  if (key == "model") return read.model_text;
  const auto found = read.values.find(key);
  if (found != read.values.end()) return found->second;
  return node.kind == NodeKind::scalar ? node.text : flow_text(node);
}

/// Counts through the product of all axes; false at the end.
bool advance(std::vector<std::size_t>& at, const std::vector<SweepAxis>& axes) {
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (++at[i] < axes[i].values.size()) return true;
    at[i] = 0;
  }
  return false;
}

class Planner {
 public:
  Planner(PlannedWorkload& out, const Config& config) : out_(out), config_(config) {}

  void add_swept(PlannedPoint point) { swept_.push_back(std::move(point)); }

  /// Baselines stand before what they are compared with; companions at the end.
  void finish() {
    for (const PlannedPoint& point : swept_) {
      if (!has_baseline(point)) add_baseline(point);
      out_.points.push_back(point);
    }
    if (config_.measure.twin) add_companions("twin", is_communication);
    if (config_.measure.single) {
      add_companions("single", [](const std::string& key) { return is_communication(key) || key == "parallel.data"; });
    }
    if (config_.measure.recording_cost) add_unrecorded();
  }

 private:
  bool has_baseline(const PlannedPoint& point) const {
    const Settings wanted = without(point.settings, is_schedule_only);
    const auto fits = [&](const PlannedPoint& other) {
      return other.role == "baseline" && without(other.settings, is_schedule_only) == wanted;
    };
    return std::any_of(swept_.begin(), swept_.end(), fits) || std::any_of(out_.points.begin(), out_.points.end(), fits);
  }

  void add_baseline(PlannedPoint point) {
    for (const collective::VariantInfo& variant : collective::allreduce_variants()) {
      if (!variant.is_baseline) continue;
      collective::AllreduceChoice library;
      library.algorithm = variant.name;
      library.parameters = default_parameters(variant.parameters);
      point.setup.train.allreduce = std::move(library);
      point.role = "baseline";
      point.settings = without(point.settings, is_schedule_only);
      point.name = point_name(variant.name, point.settings);
      point.settings.emplace_back("communication.collective", variant.name);
      out_.points.push_back(std::move(point));
      return;
    }
  }

  void add_companions(const std::string& role, const std::function<bool(const std::string&)>& drop) {
    std::set<Settings> seen;
    for (PlannedPoint point : swept_) {
      point.settings = without(point.settings, drop);
      if (!seen.insert(point.settings).second) continue;
      point.role = role;
      point.name = point_name(role, point.settings);
      if (role == "twin") point.setup.train.communication = parallel::Communication::none;
      if (role == "single") point.setup.ranks = 1;
      out_.points.push_back(std::move(point));
    }
  }

  void add_unrecorded() {
    const auto baseline = std::find_if(out_.points.begin(), out_.points.end(),
                                       [](const PlannedPoint& point) { return point.role == "baseline"; });
    if (baseline == out_.points.end()) return;
    PlannedPoint point = *baseline;
    point.role = "unrecorded";
    point.name = "unrecorded";
    out_.points.push_back(std::move(point));
  }

  PlannedWorkload& out_;
  const Config& config_;
  std::vector<PlannedPoint> swept_;
};

void promote_model(Node& node) {
  if (node.kind != NodeKind::scalar) return;
  Node map{NodeKind::map, node.place, {}, {}, {}};
  map.set("kind", node.place, node);
  node = std::move(map);
}

}  // namespace

void merge_settings(Node& base, const Node& over) {
  if (base.kind != NodeKind::map || over.kind != NodeKind::map) {
    base = over;
    return;
  }
  for (const NodeEntry& entry : over.entries) {
    Node* there = base.find(entry.key);
    const bool whole = entry.key == "collective" || (entry.key == "model" && entry.value.find("kind") != nullptr);
    if (there != nullptr && entry.key == "model" && entry.value.kind == NodeKind::map) promote_model(*there);
    if (there == nullptr || there->kind != NodeKind::map || whole) {
      base.set(entry.key, entry.key_place, entry.value);
    } else {
      merge_settings(*there, entry.value);
    }
  }
}

void set_dotted(Node& tree, const std::string& dotted, const Place& place, const Node& value) {
  Node* at = &tree;
  std::size_t begin = 0;
  for (std::size_t dot = dotted.find('.'); dot != std::string::npos; dot = dotted.find('.', begin)) {
    const std::string key = dotted.substr(begin, dot - begin);
    Node* next = at->find(key);
    if (next != nullptr && key == "model") promote_model(*next);
    if (next == nullptr || next->kind != NodeKind::map) {
      at->set(key, place, Node{NodeKind::map, place, {}, {}, {}});
      next = at->find(key);
    }
    at = next;
    begin = dot + 1;
  }
  at->set(dotted.substr(begin), place, value);
}

std::string scope_problem(const std::string& dotted) {
  const Key* key = find_key(dotted);
  const bool of_run = key != nullptr ? key->scope == KeyScope::run : dotted.rfind("measure", 0) == 0;
  return of_run ? fmt::format("'{}' is one for the whole run", dotted) : std::string();
}

PlannedWorkload plan_workload(const Workload& workload, const std::vector<SweepAxis>& axes, SetupReader& reader,
                              Config& config, std::vector<std::vector<std::string>>& axes_text) {
  PlannedWorkload out;
  out.base = reader.read(workload.tree, config);
  out.name = workload.name.empty() ? out.base.setup.model_name : workload.name;
  axes_text.assign(axes.size(), {});
  Planner planner(out, config);
  std::set<std::string> names;
  std::vector<std::size_t> at(axes.size(), 0);
  do {
    Node tree = workload.tree;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      set_dotted(tree, axes[i].key, axes[i].key_place, axes[i].values[at[i]]);
    }
    const ReadSetup read = reader.read(tree, config);
    PlannedPoint point;
    point.setup = read.setup;
    point.workload = out.name;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      std::string text = setting_text(read, axes[i].key, axes[i].values[at[i]]);
      if (axes_text[i].size() == at[i]) {
        axes_text[i].push_back(axes[i].key == "model" ? flow_text(axes[i].values[at[i]]) : text);
      }
      point.settings.emplace_back(axes[i].key, std::move(text));
    }
    point.name = point_name(read.collective_text, point.settings);
    if (!axes.empty() && !names.insert(point.name).second) {
      reader.complain(axes.back().values[at.back()].place, fmt::format("the sweep has '{}' twice", point.name),
                      "leave one of the two out");
    }
    const std::string& algorithm = read.setup.train.allreduce.algorithm;
    const bool known = !read.collective_text.empty();
    point.role = known && collective::require_variant(algorithm).is_baseline ? "baseline" : "variant";
    planner.add_swept(std::move(point));
  } while (advance(at, axes));
  planner.finish();
  return out;
}

}  // namespace ringmaster::experiment
