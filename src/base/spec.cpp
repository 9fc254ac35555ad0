// SPDX-License-Identifier: Apache-2.0
#include "base/spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"

namespace ringmaster {
namespace {

template <class T>
std::optional<T> parse_number(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  T value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<bool> parse_boolean(std::string_view text) {
  if (text == "true" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "no" || text == "off") return false;
  return std::nullopt;
}

const char* expectation(ParameterType type) {
  switch (type) {
    case ParameterType::integer: return "an integer";
    case ParameterType::real: return "a number";
    case ParameterType::boolean: return "true or false";
    case ParameterType::text: return "a word";
    case ParameterType::size: return "a size such as 64K";
  }
  return "?";
}

const char* type_name(ParameterType type) {
  switch (type) {
    case ParameterType::integer: return "integer";
    case ParameterType::real: return "number";
    case ParameterType::boolean: return "boolean";
    case ParameterType::text: return "text";
    case ParameterType::size: return "size";
  }
  return "?";
}

std::string bound_text(ParameterType type, double bound) {
  if (type == ParameterType::size) return format_size(static_cast<std::int64_t>(bound));
  return fmt::format("{:g}", bound);
}

constexpr double unbounded = 9.0e15;

/// One sentence if `value` lies outside of the spec's range.
std::string range_problem(const ParameterSpec& spec, double value, std::string_view text) {
  if (!std::isfinite(value)) return fmt::format("expects a finite number, got '{}'", text);
  if (value >= spec.lowest && value <= spec.highest) return {};
  const std::string lowest = bound_text(spec.type, spec.lowest);
  if (spec.highest >= unbounded) return fmt::format("must be at least {}, got {}", lowest, text);
  return fmt::format("must be in {}..{}, got {}", lowest, bound_text(spec.type, spec.highest), text);
}

std::optional<ParameterValue> parse_by_type(const ParameterSpec& spec, std::string_view text) {
  switch (spec.type) {
    case ParameterType::integer:
      if (const auto value = parse_number<std::int64_t>(text)) return *value;
      return std::nullopt;
    case ParameterType::real:
      if (const auto value = parse_number<double>(text)) return *value;
      return std::nullopt;
    case ParameterType::boolean:
      if (const auto value = parse_boolean(text)) return *value;
      return std::nullopt;
    case ParameterType::size:
      if (const auto value = parse_size(text)) return *value;
      return std::nullopt;
    case ParameterType::text: return std::string(text);
  }
  return std::nullopt;
}

template <class T>
const T& value_of(const std::map<std::string, ParameterValue>& values, const std::string& name) {
  const auto found = values.find(name);
  RINGMASTER_ASSERT(found != values.end() && std::holds_alternative<T>(found->second),
                    "a parameter is read that its entry does not declare");
  return *std::get_if<T>(&found->second);
}

std::string value_text(const ParameterValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  if (const auto* boolean = std::get_if<bool>(&value)) return *boolean ? "true" : "false";
  return *std::get_if<std::string>(&value);
}

}  // namespace

std::int64_t Parameters::integer(const std::string& name) const { return value_of<std::int64_t>(values_, name); }
double Parameters::real(const std::string& name) const { return value_of<double>(values_, name); }
bool Parameters::boolean(const std::string& name) const { return value_of<bool>(values_, name); }
const std::string& Parameters::text(const std::string& name) const { return value_of<std::string>(values_, name); }

std::string Parameters::describe() const {
  std::vector<std::string> parts;
  for (const auto& entry : values_) parts.push_back(entry.first + "=" + value_text(entry.second));
  return join(parts, " ");
}

std::optional<ParameterValue> parse_parameter(const ParameterSpec& spec, std::string_view text, std::string& problem) {
  std::optional<ParameterValue> value = parse_by_type(spec, text);
  if (!value) {
    problem = fmt::format("expects {}, got '{}'", expectation(spec.type), text);
    return std::nullopt;
  }
  if (const auto* integer = std::get_if<std::int64_t>(&*value)) {
    problem = range_problem(spec, static_cast<double>(*integer), text);
  } else if (const auto* real = std::get_if<double>(&*value)) {
    problem = range_problem(spec, *real, text);
  } else if (spec.type == ParameterType::text && !spec.choices.empty() &&
             std::find(spec.choices.begin(), spec.choices.end(), text) == spec.choices.end()) {
    problem = fmt::format("has no choice '{}' ({})", text, suggestion(text, spec.choices));
  } else {
    problem.clear();
  }
  if (!problem.empty()) return std::nullopt;
  return value;
}

Parameters default_parameters(std::span<const ParameterSpec> specs) {
  Parameters parameters;
  for (const ParameterSpec& spec : specs) {
    std::string problem;
    const auto value = parse_parameter(spec, spec.default_text, problem);
    RINGMASTER_ASSERT(value.has_value(), "the default of a parameter does not fit its own specification");
    parameters.set(spec.name, *value);
  }
  return parameters;
}

std::string describe(const ParameterSpec& spec, const ParameterValue& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return spec.type == ParameterType::size && integer != nullptr ? format_size(*integer) : value_text(value);
}

std::string describe(const ParameterSpec& spec) {
  std::vector<std::string> parts{type_name(spec.type), fmt::format("default {}", spec.default_text)};
  if (!spec.choices.empty()) {
    parts.push_back("one of " + join(spec.choices, " | "));
  } else if (spec.type != ParameterType::text && spec.type != ParameterType::boolean) {
    const std::string lowest = bound_text(spec.type, spec.lowest);
    parts.push_back(spec.highest >= unbounded ? "at least " + lowest
                                              : lowest + ".." + bound_text(spec.type, spec.highest));
  }
  if (*spec.unit != '\0') parts.emplace_back(spec.unit);
  return join(parts, ", ");
}

}  // namespace ringmaster
