// SPDX-License-Identifier: Apache-2.0
// The program: parses the command line, runs one subcommand, turns every exception into one clear line and an exit
// code. Under mpirun only the first rank complains about the command line.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ringmaster::cli {

/// The whole program; returns the exit code.
int run_program(int argc, char** argv);

/// The command line as it was given, without the program's name.
const std::vector<std::string>& arguments();

/// The parser with every subcommand installed; `chosen` receives the code of the subcommand that was parsed.
std::unique_ptr<CLI::App> make_app(int& chosen_code);

/// The rank that a launcher promised in the environment (0 when started alone).
int launched_rank();

}  // namespace ringmaster::cli
