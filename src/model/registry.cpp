// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/random.hpp"
#include "base/registry.hpp"
#include "model/model.hpp"

namespace ringmaster::model {
namespace {

const ModelEntry& complete(ModelChoice& choice) {
  const ModelEntry& entry = require_entry(models(), choice.kind, "model");
  const Parameters defaults = default_parameters(entry.parameters);
  for (const auto& [name, value] : defaults.values()) {
    if (!choice.parameters.has(name)) choice.parameters.set(name, value);
  }
  if (const Verdict verdict = entry.supports(choice); !verdict) {
    throw UserError("model '" + choice.kind + "': " + verdict.reason,
                    "ringmaster list models shows each one's parameters");
  }
  return entry;
}

// Box-Muller from two hashes of the element's place: any element on its own, on any rank.
double normal_at(std::uint64_t stream, std::uint64_t element) {
  constexpr double unit = 0x1p-53;
  const double u = (static_cast<double>(mix(stream, 2 * element) >> 11) + 0.5) * unit;
  const double v = static_cast<double>(mix(stream, 2 * element + 1) >> 11) * unit;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

}  // namespace

std::int64_t ParameterInfo::size() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

std::span<const ModelEntry* const> models() {
  static const std::array all{
#define MODEL(name) &name##_model(),
#include "model/models.def"
#undef MODEL
  };
  return all;
}

std::unique_ptr<Model<float>> make_model(ModelChoice choice) {
  const ModelEntry& entry = complete(choice);
  return entry.make(choice);
}

std::unique_ptr<Model<double>> make_model_double(ModelChoice choice) {
  const ModelEntry& entry = complete(choice);
  return entry.make_double(choice);
}

template <class T>
void initialize(const ParameterInfo& info, int index, std::uint64_t seed, std::span<T> values) {
  if (info.initializer != Initializer::normal) {
    std::fill(values.begin(), values.end(), info.initializer == Initializer::ones ? T{1} : T{0});
    return;
  }
  const std::uint64_t stream = mix(seed, static_cast<std::uint64_t>(index) + 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<T>(info.deviation * normal_at(stream, i));
  }
}
template void initialize(const ParameterInfo&, int, std::uint64_t, std::span<float>);
template void initialize(const ParameterInfo&, int, std::uint64_t, std::span<double>);

}  // namespace ringmaster::model
