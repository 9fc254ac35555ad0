// SPDX-License-Identifier: Apache-2.0
// How accounts look on a terminal: a short title, a letter that reads without colour, a colour. Internal to `report`.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "report/summary.hpp"
#include "report/table.hpp"

namespace ringmaster::report {

struct AccountLook {
  const char* title;
  char letter;
  int color;
};
inline constexpr std::array<AccountLook, account::account_count> account_looks{{{"data", 'D', 178},
                                                                                {"fwd", 'F', 67},
                                                                                {"bwd", 'B', 32},
                                                                                {"skew", 's', 203},
                                                                                {"xfer", 'x', 208},
                                                                                {"prog", 'p', 214},
                                                                                {"enc", 'e', 140},
                                                                                {"opt", 'O', 71},
                                                                                {"gap", 'g', 244},
                                                                                {"bubble", 'b', 133},
                                                                                {"other", '-', 250},
                                                                                {"unacc", '?', 196}}};

/// A letter an account, as many as its share of the width; the largest remainders are rounded up.
Cell account_bar(const PointSummary& row, std::size_t width, const Painter& painter);
/// What the titles of these accounts mean.
std::string account_legend(const std::vector<std::size_t>& accounts);

}  // namespace ringmaster::report
