// SPDX-License-Identifier: Apache-2.0
// What the library really uses, through MPI's tool interface. A component that was not chosen takes its variables
// away, so the variables that are left name the components that carry the messages.
#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "base/text.hpp"
#include "transport/mpi.hpp"

namespace ringmaster::transport {
namespace {

constexpr std::array frameworks{std::string_view("pml"), std::string_view("btl"), std::string_view("mtl")};
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

std::string enumerator(MPI_T_enum names, int value) {
  int count = 0;
  std::array<char, 64> name{};
  int length = static_cast<int>(name.size());
  if (MPI_T_enum_get_info(names, &count, name.data(), &length) != MPI_SUCCESS) return std::to_string(value);
  for (int i = 0; i < count; ++i) {
    int item = 0;
    length = static_cast<int>(name.size());
    if (MPI_T_enum_get_item(names, i, &item, name.data(), &length) == MPI_SUCCESS && item == value) return name.data();
  }
  return std::to_string(value);
}

std::string read_value(int index, MPI_Datatype type, MPI_T_enum names) {
  MPI_T_cvar_handle handle = nullptr;
  int count = 0;
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return "?";
  std::array<char, 4096> buffer{};
  std::string value = "?";
  const bool is_text = type == MPI_CHAR;
  if (count < static_cast<int>(buffer.size()) && (is_text || count == 1) &&
      MPI_T_cvar_read(handle, buffer.data()) == MPI_SUCCESS) {
    int number = 0;
    std::copy_n(buffer.data(), sizeof number, reinterpret_cast<char*>(&number));
    if (is_text) {
      value = buffer.data();
    } else if (names != MPI_T_ENUM_NULL) {
      value = enumerator(names, number);
    } else {
      value = std::to_string(number);
    }
  }
  MPI_T_cvar_handle_free(&handle);
  return value;
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

void read_variables(MpiFacts& facts) {
  int variables = 0;
  MPI_T_cvar_get_num(&variables);
  Found found;
  for (int i = 0; i < variables; ++i) {
    std::array<char, 256> name{};
    int name_length = static_cast<int>(name.size());
    int description_length = 0;
    int verbosity = 0;
    int bind = 0;
    int scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum names = MPI_T_ENUM_NULL;
    const int code = MPI_T_cvar_get_info(i, name.data(), &name_length, &verbosity, &type, &names, nullptr,
                                         &description_length, &bind, &scope);
    if (code != MPI_SUCCESS) continue;
    note_component(name.data(), found);
    if (std::find(telling.begin(), telling.end(), std::string_view(name.data())) == telling.end()) continue;
    const std::string value = read_value(i, type, names);
    if (!value.empty()) facts.settings.emplace_back(name.data(), value);
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
  int level = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &level) != MPI_SUCCESS) return facts;
  read_variables(facts);
  MPI_T_finalize();
  return facts;
}

}  // namespace ringmaster::transport
