// SPDX-License-Identifier: Apache-2.0
#include "experiment/budget.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/affinity.hpp"

namespace ringmaster::experiment {
namespace {

bool overlap(const std::vector<int>& a, const std::vector<int>& b) {
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

}  // namespace

std::vector<RankPlace> gather_places(transport::ProcessGroup& group) {
  const std::string host = host_name();
  const std::vector<int> units = processing_units();
  const auto hosts = transport::gather_vectors(group, std::span<const char>(host));
  const auto sets = transport::gather_vectors(group, std::span<const int>(units));
  std::vector<RankPlace> places(hosts.size());
  for (std::size_t i = 0; i < hosts.size(); ++i) places[i] = {std::string(hosts[i].begin(), hosts[i].end()), sets[i]};
  return places;
}

std::vector<int> units_per_rank(const std::vector<RankPlace>& places) {
  std::vector<int> units;
  for (const RankPlace& mine : places) {
    int sharing = 0;
    for (const RankPlace& other : places) {
      if (other.host == mine.host && overlap(other.units, mine.units)) ++sharing;
    }
    units.push_back(static_cast<int>(mine.units.size()) / std::max(sharing, 1));
  }
  return units;
}

std::string ThreadBudget::stamp() const {
  if (!oversubscribed) return "";
  const int threads = compute + (engine == collective::EngineMode::own_thread ? 1 : 0) + loaders;
  return fmt::format("oversubscribed: {} thread{} a rank on {} processing unit{} a rank: not a performance result",
                     threads, threads == 1 ? "" : "s", units, units == 1 ? "" : "s");
}

ThreadBudget plan_threads(const Setup& setup, const std::vector<int>& units) {
  ThreadBudget budget;
  budget.compute = std::max(setup.threads, 1);
  budget.units = units.empty() ? 1 : *std::min_element(units.begin(), units.end());
  int spare = budget.units - budget.compute;
  const bool wants_thread = setup.engine == "thread" || (setup.engine == "auto" && spare >= 1);
  if (wants_thread) {
    budget.engine = collective::EngineMode::own_thread;
    --spare;
  }
  budget.loaders = setup.loader.threads >= 0 ? setup.loader.threads : std::clamp(spare, 0, 2);
  spare -= budget.loaders;
  budget.oversubscribed = spare < 0;
  budget.waiting = budget.oversubscribed ? collective::Waiting::yield : collective::Waiting::spin;
  return budget;
}

}  // namespace ringmaster::experiment
