// SPDX-License-Identifier: Apache-2.0
// What the library really uses, through MPI's tool interface. A component that was not chosen takes its variables
// away, so the variables that are left name the components that carry the messages.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "base/text.hpp"
#include "transport/mpi.hpp"
#include "transport/mpi_tool.hpp"

namespace ringmaster::transport {
namespace {

constexpr std::array frameworks{std::string_view("pml"), std::string_view("btl"), std::string_view("mtl"),
                                std::string_view("smsc")};
// Values that decide what a timing means.
constexpr std::array telling{std::string_view("mpi_yield_when_idle"),
                             std::string_view("btl_vader_single_copy_mechanism"),
                             std::string_view("coll_tuned_use_dynamic_rules"),
                             std::string_view("coll_tuned_allreduce_algorithm"),
                             std::string_view("coll_tuned_dynamic_rules_filename"),
                             std::string_view("hwloc_base_binding_policy"),
                             std::string_view("rmaps_base_oversubscribe")};

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  std::string line(text.data(), static_cast<std::size_t>(length));
  // "Open MPI v4.1.4, package: ..., ident: ...": the package names who built it and where, which is nobody's business.
  line = line.substr(0, line.find_first_of(",\n"));
  const std::size_t v = line.find(" v");
  if (v != std::string::npos) line.erase(v + 1, 1);
  return line;
}

using Found = std::map<std::string, std::set<std::string>>;

/// "pml_ob1_priority" -> found["pml"] gains "ob1".
void note_component(std::string_view variable, Found& found) {
  for (const std::string_view framework : frameworks) {
    if (variable.rfind(framework, 0) != 0 || variable.size() <= framework.size() + 1) continue;
    if (variable[framework.size()] != '_') continue;
    const std::string_view rest = variable.substr(framework.size() + 1);
    const std::string component(rest.substr(0, rest.find('_')));
    if (component != "base" && component != rest) found[std::string(framework)].insert(component);
  }
}

void read_variables(const ToolSession& tool, MpiFacts& facts) {
  Found found;
  const int variables = tool.variables();
  for (int i = 0; i < variables; ++i) {
    const std::optional<ControlInfo> info = tool.info(i);
    if (!info) continue;
    note_component(info->name, found);
    if (std::find(telling.begin(), telling.end(), std::string_view(info->name)) == telling.end()) continue;
    const std::string value = tool.text(*info);
    if (!value.empty()) facts.settings.emplace_back(info->name, value);
  }
  for (const auto& [framework, components] : found) {
    facts.settings.emplace_back(framework, join({components.begin(), components.end()}, ","));
  }
}

}  // namespace

MpiFacts mpi_facts() {
  MpiFacts facts;
  facts.library = library_version();
  facts.thread_level = mpi_thread_level();
  read_variables(tool_session(), facts);
  return facts;
}

}  // namespace ringmaster::transport
