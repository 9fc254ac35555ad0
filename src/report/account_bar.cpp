// SPDX-License-Identifier: Apache-2.0
#include "report/account_bar.hpp"

#include <algorithm>
#include <cmath>

namespace ringmaster::report {
namespace {

constexpr std::array legend{"data: waiting for the loader",
                            "fwd, bwd: forward, backward",
                            "skew: waiting for a rank that is not ready",
                            "xfer: waiting for bytes although all are ready",
                            "prog: submitting buckets and moving messages between layers",
                            "enc: encode and decode",
                            "opt: optimizer",
                            "gap: device idle",
                            "bubble: pipeline bubble",
                            "other: named small work",
                            "unacc: not recorded"};
constexpr std::array<int, account::account_count> legend_of{0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

}  // namespace

Cell account_bar(const PointSummary& row, std::size_t width, const Painter& painter) {
  std::array<std::size_t, account_looks.size()> letters{};
  std::array<double, account_looks.size()> rest{};
  std::size_t used = 0;
  for (std::size_t a = 0; a < account_looks.size(); ++a) {
    const double exact = std::clamp(row.share[a], 0.0, 1.0) * static_cast<double>(width);
    letters[a] = static_cast<std::size_t>(exact);
    rest[a] = exact - std::floor(exact);
    used += letters[a];
  }
  while (used < width) {
    const auto most = static_cast<std::size_t>(std::max_element(rest.begin(), rest.end()) - rest.begin());
    if (rest[most] <= 0) break;
    rest[most] = 0;
    ++letters[most];
    ++used;
  }
  Cell cell;
  for (std::size_t a = 0; a < account_looks.size(); ++a) {
    const std::string part(letters[a], account_looks[a].letter);
    cell.text += part;
    cell.painted += painter.tint(part, account_looks[a].color);
  }
  cell.text = cell.text.substr(0, width);
  return cell;
}

std::string account_legend(const std::vector<std::size_t>& accounts) {
  std::string text;
  for (std::size_t i = 0; i < legend.size(); ++i) {
    const bool used = std::any_of(accounts.begin(), accounts.end(),
                                  [i](std::size_t a) { return legend_of[a] == static_cast<int>(i); });
    if (used) text += (text.empty() ? "" : "; ") + std::string(legend[i]);
  }
  return text;
}

}  // namespace ringmaster::report
