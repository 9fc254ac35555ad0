// SPDX-License-Identifier: Apache-2.0
#include "experiment/machine_facts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "base/affinity.hpp"
#include "base/version.hpp"
#include "tensor/threads.hpp"
#include "topology/machine.hpp"
#include "transport/mpi.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): not in every libc's headers

namespace ringmaster::experiment {
namespace {

// Only what changes a timing; never a whole environment (it holds tokens).
constexpr std::array allowed_prefixes{std::string_view("OMPI_MCA_"), std::string_view("OMP_"),
                                      std::string_view("OPENBLAS_"), std::string_view("UCX_"),
                                      std::string_view("NCCL_"),     std::string_view("MALLOC_"),
                                      std::string_view("GOMP_"),     std::string_view("MKL_NUM_THREADS")};
constexpr std::array refused_words{std::string_view("KEY"),  std::string_view("TOKEN"), std::string_view("SECRET"),
                                   std::string_view("PASS"), std::string_view("orte_"), std::string_view("ess_")};

bool allowed(std::string_view name) {
  for (const std::string_view word : refused_words) {
    if (name.find(word) != std::string_view::npos) return false;
  }
  for (const std::string_view prefix : allowed_prefixes) {
    if (name.rfind(prefix, 0) == 0) return true;
  }
  return false;
}

result::Texts allowed_environment() {
  result::Texts texts;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string_view entry = *at;
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || !allowed(entry.substr(0, equals))) continue;
    texts.emplace_back(std::string(entry.substr(0, equals)), std::string(entry.substr(equals + 1)));
  }
  return texts;
}

}  // namespace

result::Machine machine_facts(const std::vector<RankPlace>& places) {
  const topology::MachineView view = topology::view_machine();
  const transport::MpiFacts mpi = transport::mpi_facts();
  result::Machine machine;
  for (const RankPlace& place : places) {
    machine.hosts.push_back(place.host);
    machine.rank_processing_units.push_back(static_cast<int>(place.units.size()));
  }
  machine.processor = view.processor;
  machine.processing_units = view.processing_units;
  machine.memory_gb = view.memory_gb;
  machine.topology = view.line;
  machine.versions = {{"ringmaster", version()},
                      {"build", build_description()},
                      {"mpi", mpi.library},
                      {"mpi_threads", mpi.thread_level},
                      {"blas", tensor::blas_description()}};
  machine.mpi_settings.assign(mpi.settings.begin(), mpi.settings.end());
  machine.environment = allowed_environment();
  return machine;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::vector<std::string> timing_stamps(const result::Machine& machine, int ranks_per_node) {
  std::vector<std::string> stamps;
  if (ranks_per_node > 0) {
    stamps.push_back(fmt::format(
        "pretended nodes: {} ranks each (--ranks-per-node); messages between them stay on their host", ranks_per_node));
  }
  for (const auto& [name, value] : machine.mpi_settings) {
    if (name.find("yield_when_idle") != std::string::npos && (value == "1" || value == "true")) {
      stamps.emplace_back("mpi_yield_when_idle is on: the library's own collectives are slowed, do not compare");
    }
  }
  const auto ranks_here = std::count(machine.hosts.begin(), machine.hosts.end(), machine.hosts.front());
  double load = 0;
  if (getloadavg(&load, 1) == 1 && load > 0.5 + static_cast<double>(machine.processing_units - ranks_here) &&
      load > 0.5 * machine.processing_units) {
    stamps.push_back(fmt::format("other load on the machine at the start: load average {:.1f} on {} processing units",
                                 load, machine.processing_units));
  }
  return stamps;
}

}  // namespace ringmaster::experiment
