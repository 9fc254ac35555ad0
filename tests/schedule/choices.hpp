// SPDX-License-Identifier: Apache-2.0
// What the tests over all schedules and variants try of their parameters.
#pragma once

#include <algorithm>
#include <vector>

#include "base/spec.hpp"

namespace ringmaster::test {

/// The defaults, and every choice of every text parameter.
inline std::vector<Parameters> text_choices(std::span<const ParameterSpec> specs) {
  std::vector<Parameters> all{default_parameters(specs)};
  for (const ParameterSpec& spec : specs) {
    for (const std::string& choice : spec.choices) {
      if (choice == spec.default_text) continue;
      all.push_back(default_parameters(specs));
      all.back().set(spec.name, choice);
    }
  }
  return all;
}

/// A few small values of every integer parameter, with every text choice.
inline std::vector<Parameters> integer_choices(std::span<const ParameterSpec> specs) {
  std::vector<Parameters> all;
  for (const ParameterSpec& spec : specs) {
    if (spec.type != ParameterType::integer) continue;
    for (const std::int64_t value : {1, 2, 3, 4, 8}) {
      if (static_cast<double>(value) < spec.lowest || static_cast<double>(value) > spec.highest) continue;
      for (Parameters parameters : text_choices(specs)) {
        parameters.set(spec.name, value);
        all.push_back(std::move(parameters));
      }
    }
  }
  return all;
}

}  // namespace ringmaster::test
