// SPDX-License-Identifier: Apache-2.0
#include "experiment/assertions.hpp"

#include <fmt/core.h>

#include <array>
#include <cmath>

#include "report/summary.hpp"

namespace ringmaster::experiment {
namespace {

using account::Account;
using report::PointSummary;

double share(const PointSummary& point, Account account) { return point.share[static_cast<std::size_t>(account)]; }

struct Quantity {
  const char* name;
  double (*value)(const PointSummary&);
};

constexpr double us_per_s = 1e6;
const std::array quantities{
    Quantity{"step_us", [](const PointSummary& p) { return p.step_s.value * us_per_s; }},
    Quantity{
        "exposed_share",
        [](const PointSummary& p) { return share(p, Account::exposed_skew) + share(p, Account::exposed_transfer); }},
    Quantity{"skew_share", [](const PointSummary& p) { return share(p, Account::exposed_skew); }},
    Quantity{"transfer_share", [](const PointSummary& p) { return share(p, Account::exposed_transfer); }},
    Quantity{"data_wait_share", [](const PointSummary& p) { return share(p, Account::data_wait); }},
    Quantity{"other_share", [](const PointSummary& p) { return share(p, Account::other); }},
    Quantity{"unaccounted_share", [](const PointSummary& p) { return std::abs(share(p, Account::unaccounted)); }},
    Quantity{"hidden_share", [](const PointSummary& p) { return p.hidden_share; }},
    Quantity{"algbw_gb_per_s", [](const PointSummary& p) { return p.algbw_gb_per_s; }},
    Quantity{"busbw_gb_per_s", [](const PointSummary& p) { return p.busbw_gb_per_s; }},
    Quantity{"flop_share", [](const PointSummary& p) { return p.flop_share; }},
    Quantity{"final_loss", [](const PointSummary& p) { return p.final_loss; }},
    Quantity{"held_out_loss", [](const PointSummary& p) { return p.held_out_loss; }},
    Quantity{"scaling_efficiency", [](const PointSummary& p) { return p.scaling_efficiency; }},
    Quantity{"speed_against_library", [](const PointSummary& p) { return p.against_library.ratio; }},
};

bool holds(double value, const std::string& comparison, double bound) {
  if (comparison == "<") return value < bound;
  if (comparison == "<=") return value <= bound;
  if (comparison == ">") return value > bound;
  return value >= bound;
}

bool is_variant(const PointSummary& point) { return point.point->role == "variant" || point.point->role == "baseline"; }

/// "name.step_us" -> name; "" if the assertion is about all variants.
std::string point_of(const std::string& quantity) {
  const std::size_t dot = quantity.rfind('.');
  return dot == std::string::npos ? std::string() : quantity.substr(0, dot);
}

/// A point whose loss is not finite has no figures.
std::string why_nothing(const std::vector<PointSummary>& points, const std::string& only) {
  for (const PointSummary& point : points) {
    const bool meant = only.empty() ? is_variant(point) : point.point->name == only;
    if (meant && !point.note.empty()) return fmt::format(" ({}: {})", point.point->name, point.note);
  }
  return " (nothing measured that it is about)";
}

AssertionResult check(const std::vector<PointSummary>& points, const Assertion& assertion) {
  const std::string only = point_of(assertion.quantity);
  const std::string name = only.empty() ? assertion.quantity : assertion.quantity.substr(only.size() + 1);
  const Quantity* quantity = nullptr;
  for (const Quantity& q : quantities) {
    if (name == q.name) quantity = &q;
  }
  AssertionResult result;
  int checked = 0;
  for (const PointSummary& point : points) {
    const bool meant = only.empty() ? is_variant(point) : point.point->name == only;
    if (quantity == nullptr || !meant || point.rounds == 0) continue;
    ++checked;
    const double value = quantity->value(point);
    if (holds(value, assertion.comparison, assertion.bound)) continue;
    result.holds = false;
    result.text += fmt::format("{}{}: {:.4g}", result.text.empty() ? "" : ", ", point.point->name, value);
  }
  if (checked == 0) return {false, assertion.text + why_nothing(points, only)};
  result.text = assertion.text + (result.text.empty() ? "" : " (" + result.text + ")");
  return result;
}

}  // namespace

std::vector<std::string> assertable_quantities() {
  std::vector<std::string> names;
  for (const Quantity& quantity : quantities) names.emplace_back(quantity.name);
  return names;
}

std::vector<AssertionResult> check_assertions(const result::Run& run, const std::vector<Assertion>& assertions) {
  std::vector<AssertionResult> results;
  if (assertions.empty()) return results;
  const std::vector<PointSummary> points = report::summarize(run);
  for (const Assertion& assertion : assertions) results.push_back(check(points, assertion));
  return results;
}

}  // namespace ringmaster::experiment
