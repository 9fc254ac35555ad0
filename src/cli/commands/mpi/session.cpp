// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/mpi/session.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <memory>
#include <mutex>

#include "base/activity.hpp"
#include "base/affinity.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/command.hpp"
#include "cli/program.hpp"
#include "experiment/agreement.hpp"
#include "result/store.hpp"
#include "transport/mpi.hpp"

namespace ringmaster::cli {
namespace {

struct InterruptFolder {
  std::mutex mutex;
  std::string path;
};

InterruptFolder& interrupt_folder() {
  static InterruptFolder folder;
  return folder;
}

/// Called from any thread: says where this rank was, on the terminal and in run.json.
void record_interruption(int rank, const std::string& reason) {
  const std::string where = activity().describe();
  log(LogLevel::error, fmt::format("rank {} on {}: {}: was in {}", rank, host_name(), reason, where));
  InterruptFolder& folder = interrupt_folder();
  const std::lock_guard lock(folder.mutex);
  if (folder.path.empty()) return;
  try {
    result::merge_interruption(folder.path, {rank, host_name(), reason, where});
  } catch (const std::exception& error) {
    log(LogLevel::error, error.what());
  }
}

void refuse_processes_started_alone(const transport::ProcessGroup& world) {
  const int promised = transport::promised_world_size();
  if (promised <= 1 || promised == world.size()) return;
  throw experiment::AgreedError(
      fmt::format("the launcher started {} processes, but MPI sees {} in the world: each runs alone", promised,
                  world.size()),
      "mpirun and the MPI library belong to different installations; use the mpirun of " +
          transport::mpi_facts().library);
}

void refuse_unequal_ranks(transport::ProcessGroup& world) {
  experiment::require_equal(world, "the build", build_id(), "start the same program on every node");
  experiment::require_equal(world, "the command line", join(arguments(), " "), "give every rank the same arguments");
}

}  // namespace

void set_interrupt_folder(const std::string& folder) {
  InterruptFolder& held = interrupt_folder();
  const std::lock_guard lock(held.mutex);
  held.path = folder;
}

void add_node_option(CLI::App& app, int& ranks_per_node) {
  app.add_option("--ranks-per-node", ranks_per_node, "pretend that so many consecutive ranks of a host are a node")
      ->check(CLI::Range(1, 1'000'000));
}

int with_world(const WorldOptions& options,
               const std::function<int(transport::ProcessGroup&, measure::Watchdog&)>& body) {
  const int rank = launched_rank();
  measure::WatchdogOptions watching;
  watching.timeout_s = options.timeout_s;
  watching.on_interrupt = [rank](const std::string& reason) { record_interruption(rank, reason); };
  measure::Watchdog watchdog(watching);  // before MPI starts threads: they inherit the blocked signals
  transport::MpiSession session(nullptr, nullptr, options.ranks_per_node);
  watchdog.watch_mapped_files();
  try {
    refuse_processes_started_alone(session.world());
    refuse_unequal_ranks(session.world());
    return body(session.world(), watchdog);
  } catch (const experiment::AgreedError&) {
    throw;  // every rank is here: MPI ends in order, the first rank complains
  } catch (const std::exception& error) {
    record_interruption(rank, std::string("failed: ") + error.what());
    transport::abort_job(dynamic_cast<const UserError*>(&error) != nullptr ? usage : failure);
  }
}

}  // namespace ringmaster::cli
