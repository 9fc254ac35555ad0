// SPDX-License-Identifier: Apache-2.0
// The registry of datasets, and the shape of a batch.
#include "data/dataset.hpp"

#include "base/error.hpp"
#include "base/registry.hpp"

namespace ringmaster::data {

void Batch::reserve(const SampleShape& shape, std::int64_t count) {
  samples = count;
  const auto elements = static_cast<std::size_t>(count * shape.length);
  if (shape.tokens) {
    tokens.assign(elements, 0);
    targets.assign(elements, 0);
  } else {
    features.assign(elements, 0.0F);
    labels.assign(static_cast<std::size_t>(count * shape.outputs), 0.0F);
  }
}

std::span<const DatasetEntry* const> datasets() {
#define DATASET(name) &name##_dataset(),
  static const DatasetEntry* const entries[] = {
#include "data/datasets.def"
  };
#undef DATASET
  return entries;
}

namespace {

/// The entry's defaults under what was given; a name that the entry does not have is the user's error.
Parameters complete(const DatasetEntry& entry, const Parameters& given) {
  Parameters result = default_parameters(entry.parameters);
  for (const auto& [name, value] : given.values()) {
    if (!result.has(name)) {
      std::vector<std::string> names;
      for (const ParameterSpec& spec : entry.parameters) names.emplace_back(spec.name);
      throw UserError("dataset '" + std::string(entry.name) + "' has no parameter '" + name + "'",
                      suggestion(name, names));
    }
    result.set(name, value);
  }
  return result;
}

}  // namespace

std::unique_ptr<Dataset> make_dataset(DataChoice choice, const SampleShape& shape) {
  const DatasetEntry& entry = require_entry(datasets(), choice.kind, "dataset");
  choice.parameters = complete(entry, choice.parameters);
  if (const Verdict verdict = entry.supports(choice, shape); !verdict) {
    throw UserError("dataset '" + choice.kind + "' does not fit this model: " + verdict.reason,
                    "ringmaster list datasets names the others");
  }
  return entry.make(choice, shape);
}

}  // namespace ringmaster::data
