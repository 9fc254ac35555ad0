// SPDX-License-Identifier: Apache-2.0
// The `assert:` section: bounds that a run must keep, checked against its summary. Exit code 3 when one fails.
#pragma once

#include <string>
#include <vector>

#include "experiment/config.hpp"
#include "result/schema.hpp"

namespace ringmaster::experiment {

struct AssertionResult {
  bool holds = true;
  std::string text;  // "step_us < 500 (ring: 612.0)"
};

/// Names that may stand in `assert:`: "step_us", "exposed_share", ...; a point's name and a dot may stand before one
/// ("ring.step_us"); without it every measured variant must keep the bound.
std::vector<std::string> assertable_quantities();

std::vector<AssertionResult> check_assertions(const result::Run& run, const std::vector<Assertion>& assertions);

}  // namespace ringmaster::experiment
