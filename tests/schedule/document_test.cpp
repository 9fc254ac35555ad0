// SPDX-License-Identifier: Apache-2.0
// The table of docs/algorithms.md is what the builders' schedules count.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "schedule/builders.hpp"
#include "schedule/verifier.hpp"

namespace ringmaster::schedule {
namespace {

std::string row(const std::string& name, const Parameters& parameters) {
  std::string text = "| " + name + " |";
  for (const int ranks : {2, 3, 4, 5, 8, 16, 64}) {
    const Counts counts = count(build(name.substr(0, name.find(' ')), {ranks, {}, parameters}));
    const auto messages = *std::max_element(counts.messages_sent.begin(), counts.messages_sent.end());
    text += fmt::format(" {} / {} / {:.3g} |", counts.rounds, messages, counts.busiest_sent());
  }
  return text;
}

TEST(AlgorithmsDocument, HasTheCostsThatTheSchedulesCount) {
  std::ifstream file(RINGMASTER_SOURCE_DIR "/docs/algorithms.md");
  std::ostringstream text;
  text << file.rdbuf();
  for (const Builder* builder : builders()) {
    std::vector<std::string> rows{row(builder->name, {})};
    for (const ParameterSpec& spec : builder->parameters) {
      rows.clear();
      for (const std::string& choice : spec.choices) {
        Parameters parameters;
        parameters.set(spec.name, choice);
        rows.push_back(row(fmt::format("{} {}={}", builder->name, spec.name, choice), parameters));
      }
    }
    for (const std::string& line : rows) EXPECT_NE(text.str().find(line), std::string::npos) << line;
    EXPECT_NE(text.str().find(fmt::format("## {}\n", builder->name)), std::string::npos) << builder->name;
  }
}

}  // namespace
}  // namespace ringmaster::schedule
