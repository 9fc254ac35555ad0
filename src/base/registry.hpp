// SPDX-License-Identifier: Apache-2.0
// One shape for every registry: a constexpr-like array of entries made from a .def list, looked up by name,
// with a "did you mean" where the name is unknown.
//
//   names.def:      BUILDER(ring) BUILDER(tree)
//   entries.hpp:    #define BUILDER(name) const Entry& name##_entry();   #include "names.def"
//   registry.cpp:   one array from the same list
//
// A new file without its line fails to compile (-Wmissing-declarations); a line without its file fails to link.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/text.hpp"

namespace ringmaster {

/// The entry of that name, or null. Entry needs a member `name`.
template <class Entry>
const Entry* find_entry(std::span<const Entry* const> entries, std::string_view name) {
  for (const Entry* entry : entries) {
    if (name == entry->name) return entry;
  }
  return nullptr;
}

template <class Entry>
std::vector<std::string> entry_names(std::span<const Entry* const> entries) {
  std::vector<std::string> names;
  for (const Entry* entry : entries) names.emplace_back(entry->name);
  return names;
}

/// The entry of that name; throws UserError "unknown WHAT 'name' (did you mean 'ring'?)".
template <class Entry>
const Entry& require_entry(std::span<const Entry* const> entries, std::string_view name, const std::string& what) {
  if (const Entry* entry = find_entry(entries, name)) return *entry;
  throw UserError("unknown " + what + " '" + std::string(name) + "'", suggestion(name, entry_names(entries)));
}

}  // namespace ringmaster
