// SPDX-License-Identifier: Apache-2.0
// The schema as JSON text. Internal to `result`; the store and the publisher stand on it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "result/schema.hpp"

namespace ringmaster::result {

/// Throws the UserError of one complaint.
[[noreturn]] void complain(const Place& place, const std::string& text, const std::string& hint);

/// One line of samples.jsonl, newline included.
std::string sample_line(const Block& block);
std::string sample_line(const PointEnd& end);
std::string sample_line(const BenchRow& row);

/// run.json's text. UserError: not JSON, wrong types, a schema version that this program does not know.
Run parse_run(std::string_view text, const std::string& file);

/// Adds the record of one line. False if it is no whole JSON object; UserError if it is one with wrong contents.
bool add_sample(std::string_view line, const std::string& file, int line_number, Run& run);

/// Chrome's trace format (only what the trace exporter writes) back to events.
std::vector<TraceEvent> parse_trace(std::string_view text, const std::string& file);

/// The run with every text passed through `scrub`, which is told the key that holds it.
Run with_texts(const Run& run, const std::function<std::string(const std::string& key, const std::string&)>& scrub);

}  // namespace ringmaster::result
