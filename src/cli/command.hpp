// SPDX-License-Identifier: Apache-2.0
// Subcommands: one file in commands/ (commands/mpi/ if it needs MPI or its registries) and one line in commands.def
// each.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ringmaster::cli {

/// Exit codes: 0 fine; 1 the run failed or results differ; 2 the user's input is wrong; 3 an assertion or threshold
/// failed; 128 + n ended by signal n.
enum ExitCode : int { success = 0, failure = 1, usage = 2, threshold = 3 };

struct Command {
  const char* name;
  const char* summary;
  /// Adds options to `app` and returns what runs once they are parsed: the exit code.
  std::function<int()> (*install)(CLI::App& app);
};
std::span<const Command* const> commands();

#define COMMAND(name) const Command& name##_command();
#include "cli/commands.def"
#undef COMMAND

}  // namespace ringmaster::cli
