// SPDX-License-Identifier: Apache-2.0
#include "experiment/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "experiment/assertions.hpp"
#include "experiment/config_keys.hpp"
#include "experiment/config_plan.hpp"
#include "experiment/config_source.hpp"

namespace ringmaster::experiment {
namespace {

constexpr std::size_t most_complaints = 100;
constexpr std::size_t longest_complaint = 400;
constexpr std::size_t most_workloads = 32;
const char* const name_hint = "at most 64 letters, digits, '.', '_' and '-', a letter, a digit or '_' first";
const char* const fewer_points = "fewer values, or several configs";

bool is_name(const std::string& text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  return !text.empty() && text.size() <= 64 && text.front() != '.' && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), fits);
}

/// One line of at most so many bytes, whatever the config has in it.
std::string one_line(std::string text) {
  if (text.size() > longest_complaint) {
    std::size_t end = longest_complaint;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text = text.substr(0, end) + "...";
  }
  return printable(text);
}

void move_to(Node& node, const Place& place) {
  node.place = place;
  for (Node& item : node.items) move_to(item, place);
  for (NodeEntry& entry : node.entries) {
    entry.key_place = place;
    move_to(entry.value, place);
  }
}

class Parser {
 public:
  Parser(const std::string& file, const ConfigFiles& files)
      : file_(file), reader_(std::filesystem::path(file).parent_path().string(), files, complaints_) {}

  Config parse(const std::string& text, const std::vector<std::string>& overrides);

 private:
  void read_override(const std::string& override_text);
  void check_name(Node& tree);
  void read_sweep(const Node& tree);
  void check_swept_key(const NodeEntry& entry);
  void read_workloads(const Node& tree);
  void read_workload(const Node& base, const Node& item);
  void check_scope(const Node& section, const std::string& prefix);
  void read_assertions(const Node& tree);
  void read_assertion(const NodeEntry& entry, const Node& bound);
  void check_asserted_points();
  void plan();
  void throw_complaints();

  void complain(const Place& place, std::string text, std::string hint = {}) {
    complaints_.push_back({place, std::move(text), std::move(hint)});
  }

  std::string file_;
  std::vector<Complaint> complaints_;
  SetupReader reader_;
  Config config_;
  Node overlay_{NodeKind::map, {}, {}, {}, {}};
  std::vector<std::string> overridden_;
  std::vector<SweepAxis> axes_;
  std::vector<std::vector<std::string>> axes_text_;
  std::vector<Workload> workloads_;
  std::vector<PlannedWorkload> planned_;
  std::vector<Place> assertion_places_;
};

void Parser::throw_complaints() {
  if (complaints_.empty()) return;
  std::vector<Complaint> unique;
  std::set<std::string> seen;
  for (Complaint& complaint : complaints_) {
    complaint.text = one_line(complaint.text);
    complaint.hint = one_line(complaint.hint);
    complaint.place.file = one_line(complaint.place.file);
    // The points of a sweep make the same mistake with the hints of several models: one is enough.
    if (seen.insert(complaint.place.text() + ": " + complaint.text).second) unique.push_back(complaint);
  }
  const auto order = [this](const Complaint& c) {
    return std::make_tuple(c.place.file != file_, c.place.line, c.place.column);
  };
  std::stable_sort(unique.begin(), unique.end(),
                   [&](const Complaint& a, const Complaint& b) { return order(a) < order(b); });
  if (unique.size() > most_complaints) {
    const std::size_t more = unique.size() - most_complaints;
    unique.resize(most_complaints);
    Complaint last;
    last.place.file = file_;
    last.text = fmt::format("and {} more mistakes", more);
    unique.push_back(std::move(last));
  }
  throw UserError(std::move(unique));
}

void Parser::read_override(const std::string& override_text) {
  const Place place{"--set " + override_text, 0, 0};
  const std::size_t equals = override_text.find('=');
  if (equals == std::string::npos || equals == 0)
    return complain(place, "expects dotted.key=value", "such as --set train.batch=4");
  const std::string dotted = override_text.substr(0, equals);
  const std::size_t before = complaints_.size();
  Node value = read_yaml(override_text.substr(equals + 1), place.file, complaints_);
  for (std::size_t i = before; i < complaints_.size(); ++i) complaints_[i].place = place;
  move_to(value, place);
  if (value.kind == NodeKind::null) value = Node{NodeKind::scalar, place, {}, {}, {}};
  const std::string top = dotted.substr(0, dotted.find('.'));
  if (std::count(dotted.begin(), dotted.end(), '.') > 8)
    return complain(place, "the key has too many dots", "ringmaster list config names all keys");
  if (top == "workloads") return complain(place, "workloads cannot be set", "other keys are set in all of them");
  if ((top == "sweep" || top == "assert") && dotted.size() > top.size() + 1) {
    Node section{NodeKind::map, place, {}, {}, {}};
    if (const Node* there = overlay_.find(top); there != nullptr && there->kind == NodeKind::map) section = *there;
    section.set(dotted.substr(top.size() + 1), place, std::move(value));
    overlay_.set(top, place, std::move(section));
    return;
  }
  set_dotted(overlay_, dotted, place, value);
  overridden_.push_back(dotted);
}

void Parser::check_name(Node& tree) {
  const Node* name = tree.find("name");
  if (name == nullptr) {
    std::string stem = std::filesystem::path(file_).stem().string();
    if (!is_name(stem)) stem = "run";
    tree.set("name", tree.place, Node{NodeKind::scalar, tree.place, stem, {}, {}});
  } else if (name->kind == NodeKind::scalar && !is_name(name->text)) {
    complain(name->place, fmt::format("name '{}' cannot name a folder", name->text), name_hint);
  }
}

void Parser::check_swept_key(const NodeEntry& entry) {
  const std::string& key = entry.key;
  if (const std::string problem = scope_problem(key); !problem.empty())
    return complain(entry.key_place, problem, "set it outside of 'sweep'");
  const bool open = key == "model" || key.rfind("model.", 0) == 0 || key.rfind("data.", 0) == 0;
  const bool listed = key == "communication.collective" || key == "communication.rank_order";
  if (open || listed || find_key(key) != nullptr) return;
  std::vector<std::string> names{"communication.collective", "communication.rank_order", "model"};
  for (const Key& each : config_keys()) {
    if (each.scope == KeyScope::point) names.emplace_back(each.spec.name);
  }
  const auto near = nearest(key, names);
  complain(entry.key_place, fmt::format("unknown key '{}' in 'sweep'", key),
           near ? "did you mean '" + *near + "'?" : "a dotted key such as communication.collective");
}

void Parser::read_sweep(const Node& tree) {
  const Node* sweep = tree.find("sweep");
  if (sweep == nullptr || sweep->kind == NodeKind::null) return;
  if (sweep->kind != NodeKind::map)
    return complain(sweep->place, "'sweep' expects a map of dotted.key: [values]",
                    "such as communication.collective: [library, ring]");
  std::size_t points = 1;
  for (const NodeEntry& entry : sweep->entries) {
    const std::size_t before = complaints_.size();
    check_swept_key(entry);
    const Node& values = entry.value;
    if (values.kind != NodeKind::list || values.items.empty()) {
      complain(values.place, fmt::format("sweep of '{}' expects a list of values", entry.key),
               fmt::format("such as {}: [A, B]", entry.key));
    }
    const bool replaced = std::find(overridden_.begin(), overridden_.end(), entry.key) != overridden_.end();
    if (complaints_.size() != before || replaced) continue;
    points *= std::min(values.items.size(), most_points + 1);
    if (points > most_points)
      return complain(entry.key_place, fmt::format("the sweep has more than {} points", most_points), fewer_points);
    axes_.push_back({entry.key, entry.key_place, values.items});
  }
  // The order of keys in a file means nothing.
  std::sort(axes_.begin(), axes_.end(), [](const SweepAxis& a, const SweepAxis& b) { return a.key < b.key; });
}

void Parser::check_scope(const Node& section, const std::string& prefix) {
  for (const NodeEntry& entry : section.entries) {
    const std::string dotted = prefix + entry.key;
    if (prefix.empty() && entry.key == "name") continue;
    const bool structure = entry.key == "sweep" || entry.key == "workloads" || entry.key == "assert";
    if (prefix.empty() && structure) {
      complain(entry.key_place, fmt::format("'{}' does not stand in a workload", entry.key),
               "it stands at the top of the config");
    } else if (const std::string problem = scope_problem(dotted); !problem.empty()) {
      complain(entry.key_place, problem, "it does not stand in a workload");
    } else if (entry.value.kind == NodeKind::map && entry.key != "model") {
      check_scope(entry.value, dotted + ".");
    }
  }
}

void Parser::read_workload(const Node& base, const Node& item) {
  if (item.kind != NodeKind::map) {
    return complain(item.place, "a workload is a map with a name and its own settings",
                    "such as {name: small, model: mlp}");
  }
  check_scope(item, "");
  Workload workload;
  workload.place = item.place;
  if (const Node* name = item.find("name")) {
    if (!is_name(name->text)) {
      return complain(name->place, fmt::format("a workload cannot be named '{}'", name->text), name_hint);
    }
    workload.name = name->text;
    workload.place = name->place;
  }
  workload.tree = base;
  Node own = item;
  std::erase_if(own.entries, [](const NodeEntry& entry) { return entry.key == "name"; });
  merge_settings(workload.tree, own);
  merge_settings(workload.tree, overlay_);
  workloads_.push_back(std::move(workload));
}

void Parser::read_workloads(const Node& tree) {
  const Node* list = tree.find("workloads");
  if (list == nullptr || list->kind == NodeKind::null) return workloads_.push_back({{}, tree, tree.place});
  if (list->kind != NodeKind::list || list->items.empty()) {
    return complain(list->place, "'workloads' expects a list of maps", "such as [{name: small, model: mlp}]");
  }
  if (list->items.size() > most_workloads) {
    return complain(list->place, fmt::format("more than {} workloads", most_workloads),
                    "split them over several configs");
  }
  for (const Node& item : list->items) read_workload(tree, item);
}

void Parser::read_assertion(const NodeEntry& entry, const Node& bound) {
  const std::string hint = "such as " + entry.key + ": \"< 0.25\"";
  if (bound.kind != NodeKind::scalar) return complain(bound.place, "a bound expects a text", hint);
  Assertion assertion;
  assertion.quantity = entry.key;
  for (const char* comparison : {"<=", ">=", "<", ">"}) {
    if (assertion.comparison.empty() && bound.text.rfind(comparison, 0) == 0) assertion.comparison = comparison;
  }
  if (assertion.comparison.empty()) {
    return complain(bound.place, fmt::format("bound '{}' does not begin with <, <=, > or >=", bound.text), hint);
  }
  std::string number = bound.text.substr(assertion.comparison.size());
  number.erase(0, number.find_first_not_of(' '));
  const ParameterSpec spec{"bound", ParameterType::real, "", "0", -9.0e15, 9.0e15, ""};
  std::string problem;
  const auto value = parse_parameter(spec, number, problem);
  if (!value) return complain(bound.place, "a bound " + problem, hint);
  assertion.bound = *std::get_if<double>(&*value);
  assertion.text = fmt::format("{} {} {}", entry.key, assertion.comparison, assertion.bound);
  config_.assertions.push_back(std::move(assertion));
  assertion_places_.push_back(entry.key_place);
}

void Parser::read_assertions(const Node& tree) {
  const Node* section = tree.find("assert");
  if (section == nullptr || section->kind == NodeKind::null) return;
  if (section->kind != NodeKind::map)
    return complain(section->place, "'assert' expects a map of quantity: \"< bound\"", "such as step_us: \"< 900\"");
  std::vector<NodeEntry> entries = section->entries;
  std::sort(entries.begin(), entries.end(), [](const NodeEntry& a, const NodeEntry& b) { return a.key < b.key; });
  for (const NodeEntry& entry : entries) {
    const std::vector<std::string> known = assertable_quantities();
    const std::string quantity = entry.key.substr(entry.key.rfind('.') + 1);
    if (std::find(known.begin(), known.end(), quantity) == known.end()) {
      complain(entry.key_place, fmt::format("unknown quantity '{}' in 'assert'", quantity),
               suggestion(quantity, known));
      continue;
    }
    if (entry.value.kind == NodeKind::list && !entry.value.items.empty()) {
      for (const Node& bound : entry.value.items) read_assertion(entry, bound);
    } else {
      read_assertion(entry, entry.value);
    }
  }
}

void Parser::check_asserted_points() {
  std::vector<std::string> names;
  for (const PlannedPoint& point : config_.points) names.push_back(point.name);
  for (std::size_t i = 0; i < config_.assertions.size(); ++i) {
    const std::string& quantity = config_.assertions[i].quantity;
    const std::size_t dot = quantity.rfind('.');
    const std::string name = quantity.substr(0, dot);
    if (dot == std::string::npos || std::find(names.begin(), names.end(), name) != names.end()) continue;
    complain(assertion_places_[i], fmt::format("'assert' names a point '{}' that this config does not have", name),
             suggestion(name, names));
  }
}

void Parser::plan() {
  std::size_t product = workloads_.size();
  for (const SweepAxis& axis : axes_) product *= axis.values.size();
  if (product > most_points) {
    return complain({file_, 1, 1}, fmt::format("the sweep of all workloads has more than {} points", most_points),
                    fewer_points);
  }
  std::set<std::string> names;
  for (const Workload& workload : workloads_) {
    planned_.push_back(plan_workload(workload, axes_, reader_, config_, axes_text_));
    PlannedWorkload& planned = planned_.back();
    if (!names.insert(planned.name).second) {
      complain(workload.place, fmt::format("two workloads are named '{}'", planned.name), "give each a name");
    }
    for (PlannedPoint& point : planned.points) {
      point.workload = planned.name;
      if (workloads_.size() > 1) point.name = planned.name + "/" + point.name;
      config_.points.push_back(point);
    }
  }
}

Config Parser::parse(const std::string& text, const std::vector<std::string>& overrides) {
  Node tree = read_yaml(text, file_, complaints_);
  const bool broken = !complaints_.empty() && tree.kind == NodeKind::null;
  if (!broken && tree.kind == NodeKind::null) tree = Node{NodeKind::map, {file_, 1, 1}, {}, {}, {}};
  if (!broken && tree.kind != NodeKind::map)
    complain(tree.place, "a config is a map of keys, got " + kind_name(tree.kind),
             "the smallest config is: model: mlp");
  for (const std::string& override_text : overrides) read_override(override_text);
  if (tree.kind != NodeKind::map) throw_complaints();
  merge_settings(tree, overlay_);
  check_name(tree);
  read_sweep(tree);
  read_workloads(tree);
  read_assertions(tree);
  plan();
  check_asserted_points();
  throw_complaints();
  resolve(config_, planned_, axes_, axes_text_);
  return std::move(config_);
}

}  // namespace

Config parse_config(const std::string& text, const std::string& file, const std::vector<std::string>& overrides,
                    const ConfigFiles& files) {
  return Parser(file, files).parse(text, overrides);
}

collective::AllreduceChoice parse_collective(const std::string& text) {
  std::vector<Complaint> complaints;
  const ConfigFiles no_files;
  SetupReader reader("", no_files, complaints);
  Node node;
  node.kind = NodeKind::scalar;
  node.text = text;
  collective::AllreduceChoice choice = reader.read_choice(node);
  for (Complaint& complaint : complaints) complaint.place = {};
  if (!complaints.empty()) throw UserError(std::move(complaints));
  return choice;
}

}  // namespace ringmaster::experiment
