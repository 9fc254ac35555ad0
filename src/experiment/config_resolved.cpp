// SPDX-License-Identifier: Apache-2.0
// The resolved config: everything with its value in one fixed order, so that equal settings are equal text.
#include <fmt/format.h>
#include <xxhash.h>

#include <map>

#include "base/text.hpp"
#include "experiment/config_keys.hpp"
#include "experiment/config_plan.hpp"

namespace ringmaster::experiment {
namespace {

/// Dotted keys as nested maps, sorted; every line is indented by `indent`.
std::string nested_text(const std::map<std::string, std::string>& values, const std::string& indent) {
  std::string text;
  std::vector<std::string> open;
  for (const auto& [dotted, value] : values) {
    std::vector<std::string> path;
    std::size_t begin = 0;
    for (std::size_t dot = dotted.find('.'); dot != std::string::npos; dot = dotted.find('.', begin)) {
      path.push_back(dotted.substr(begin, dot - begin));
      begin = dot + 1;
    }
    std::size_t same = 0;
    while (same < path.size() && same < open.size() && path[same] == open[same]) ++same;
    for (std::size_t i = same; i < path.size(); ++i) text += indent + std::string(2 * i, ' ') + path[i] + ":\n";
    text += indent + std::string(2 * path.size(), ' ') + dotted.substr(begin) + ": " + value + "\n";
    open = std::move(path);
  }
  return text;
}

std::string workload_text(const PlannedWorkload& workload) {
  std::map<std::string, std::string> values;
  for (const auto& [dotted, text] : workload.base.values) {
    const Key* key = find_key(dotted);
    if (key != nullptr && key->scope == KeyScope::run) continue;
    values[dotted] = dotted == "communication.rank_order" ? text : yaml_scalar(text);
  }
  values["communication.collective"] = yaml_scalar(workload.base.collective_text);
  values["model"] = workload.base.model_text;
  return "  - name: " + yaml_scalar(workload.name) + "\n" + nested_text(values, "    ");
}

}  // namespace

void resolve(Config& config, const std::vector<PlannedWorkload>& planned, const std::vector<SweepAxis>& axes,
             const std::vector<std::vector<std::string>>& axes_text) {
  std::map<std::string, std::string> of_run;
  for (const auto& [dotted, text] : planned.front().base.values) {
    const Key* key = find_key(dotted);
    if (key != nullptr && key->scope == KeyScope::run) of_run[dotted] = yaml_scalar(text);
  }
  std::string text = nested_text(of_run, "") + "workloads:\n";
  for (const PlannedWorkload& workload : planned) text += workload_text(workload);
  if (!axes.empty()) text += "sweep:\n";
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::vector<std::string> values;
    const bool flow = axes[i].key == "model" || axes[i].key == "communication.rank_order";
    for (const std::string& value : axes_text[i]) values.push_back(flow ? value : yaml_scalar(value));
    text += fmt::format("  {}: [{}]\n", yaml_scalar(axes[i].key), join(values, ", "));
  }
  std::map<std::string, std::vector<std::string>> bounds;
  for (const Assertion& assertion : config.assertions) {
    bounds[assertion.quantity].push_back(fmt::format("\"{} {}\"", assertion.comparison, assertion.bound));
  }
  if (!bounds.empty()) text += "assert:\n";
  for (const auto& [quantity, each] : bounds) {
    text += fmt::format("  {}: [{}]\n", yaml_scalar(quantity), join(each, ", "));
  }
  config.resolved = std::move(text);
  const XXH128_hash_t hash = XXH3_128bits(config.resolved.data(), config.resolved.size());
  config.hash = fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace ringmaster::experiment
