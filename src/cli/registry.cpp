// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "cli/command.hpp"

namespace ringmaster::cli {

std::span<const Command* const> commands() {
#define COMMAND(name) &name##_command(),
  static const std::array all{
#include "cli/commands.def"
  };
#undef COMMAND
  return all;
}

}  // namespace ringmaster::cli
