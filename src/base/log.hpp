// SPDX-License-Identifier: Apache-2.0
// Log lines to stderr with the rank in front. Library code never writes to stdout; nothing logs while timing.
#pragma once

#include <string>

namespace ringmaster {

enum class LogLevel { debug, info, warning, error };

/// Set once at start. Only rank 0 prints info; every rank prints warnings and errors.
void configure_log(LogLevel lowest, int rank);
void log(LogLevel level, const std::string& text);

}  // namespace ringmaster
