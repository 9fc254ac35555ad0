// SPDX-License-Identifier: Apache-2.0
// From workloads and a sweep to points: the product of all axes, and for each workload what its points are measured
// against (library baseline, twin without communication, one rank alone, recorder off).
#pragma once

#include <string>
#include <vector>

#include "experiment/config.hpp"
#include "experiment/config_setup.hpp"
#include "experiment/yaml_reader.hpp"

namespace ringmaster::experiment {

inline constexpr std::size_t most_points = 512;

struct SweepAxis {
  std::string key;  // dotted
  Place key_place;
  std::vector<Node> values;
};

struct Workload {
  std::string name;  // "": the model's
  Node tree;         // complete but for the sweep
  Place place;       // of its name, or of the whole
};

/// A point with the texts that the resolved config needs.
struct PlannedWorkload {
  std::string name;
  ReadSetup base;  // without the sweep
  std::vector<PlannedPoint> points;
};

/// Lays a value at a dotted key over a tree. A model's name becomes a map that other values can lie over.
void set_dotted(Node& tree, const std::string& dotted, const Place& place, const Node& value);
/// Lays one tree over another by the rules of a config: a model with a kind, and a collective, replace the whole.
void merge_settings(Node& base, const Node& over);

/// All points of one workload. `axes_text` receives each axis's values as the resolved config writes them.
PlannedWorkload plan_workload(const Workload& workload, const std::vector<SweepAxis>& axes, SetupReader& reader,
                              Config& config, std::vector<std::vector<std::string>>& axes_text);

/// Fills in `resolved` and `hash`.
void resolve(Config& config, const std::vector<PlannedWorkload>& planned, const std::vector<SweepAxis>& axes,
             const std::vector<std::vector<std::string>>& axes_text);

/// What a key of a sweep or workload may not be, as a sentence; "" if it may.
std::string scope_problem(const std::string& dotted);

}  // namespace ringmaster::experiment
