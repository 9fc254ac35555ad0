// SPDX-License-Identifier: Apache-2.0
// Parameters as data: what an entry of a registry can be told, with type, unit, default and range. Help,
// config validation, sweeps and docs all come from these specs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace ringmaster {

enum class ParameterType { integer, real, boolean, text, size };  // size: bytes, accepts 64K, 4M, 1G

using ParameterValue = std::variant<std::int64_t, double, bool, std::string>;  // size and integer: int64

/// One parameter. `lowest` and `highest` bound numbers (inclusive); `choices` bounds text when not empty.
struct ParameterSpec {
  const char* name;
  ParameterType type;
  const char* unit;          // "", "bytes", "s", "samples", ...
  const char* default_text;  // parsed like user input
  double lowest = 0;
  double highest = 9.0e15;
  const char* help = "";
  std::vector<std::string> choices = {};
};

/// Yes, or no with a reason, and what to do about it, that are shown to the user.
struct Verdict {
  bool ok = true;
  std::string reason;
  std::string hint = {};

  static Verdict yes() { return {}; }
  static Verdict no(std::string why, std::string hint = {}) { return {false, std::move(why), std::move(hint)}; }
  explicit operator bool() const { return ok; }
};

/// Values by name. Made by `default_parameters` they are complete; what was given is set over the defaults.
class Parameters {
 public:
  void set(const std::string& name, ParameterValue value) { values_[name] = std::move(value); }
  bool has(const std::string& name) const { return values_.count(name) != 0; }

  /// The value of a parameter that the entry declares. Asserts that it exists with that type.
  std::int64_t integer(const std::string& name) const;
  double real(const std::string& name) const;
  bool boolean(const std::string& name) const;
  const std::string& text(const std::string& name) const;

  const std::map<std::string, ParameterValue>& values() const { return values_; }
  /// "k=2 segment=65536", sorted by name.
  std::string describe() const;

 private:
  std::map<std::string, ParameterValue> values_;
};

/// Parses one value. Returns the value, or fills `problem` with one sentence ("expects an integer, got 'x'").
std::optional<ParameterValue> parse_parameter(const ParameterSpec& spec, std::string_view text, std::string& problem);

/// Defaults of all specs.
Parameters default_parameters(std::span<const ParameterSpec> specs);

/// A value as a user would write it: sizes as "64K".
std::string describe(const ParameterSpec& spec, const ParameterValue& value);

/// "integer, default 4, 1..64, samples": one line for help and docs.
std::string describe(const ParameterSpec& spec);

}  // namespace ringmaster
