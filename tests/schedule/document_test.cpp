// SPDX-License-Identifier: Apache-2.0
// The table of docs/algorithms.md is what the builders' schedules count.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/registry.hpp"
#include "schedule/builders.hpp"
#include "schedule/verifier.hpp"

namespace ringmaster::schedule {
namespace {

std::string row(const std::string& label, const Builder& builder, const Parameters& parameters) {
  std::string text = "| " + label + " |";
  for (const int ranks : {2, 3, 4, 5, 8, 16, 64}) {
    const BuildContext context = completed(builder, {ranks, {}, parameters});
    if (!builder.supports(context)) {
      text += " - |";
      continue;
    }
    const Counts counts = count(build(builder.name, context));
    const auto messages = *std::max_element(counts.messages_sent.begin(), counts.messages_sent.end());
    text += fmt::format(" {} / {} / {:.3g} |", counts.rounds, messages, counts.busiest_sent());
  }
  return text;
}

std::string document() {
  std::ifstream file(RINGMASTER_SOURCE_DIR "/docs/algorithms.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// "key=value" of a row's label.
void set_parameter(Parameters& parameters, const Builder& builder, const std::string& word) {
  const std::size_t equals = word.find('=');
  for (const ParameterSpec& spec : builder.parameters) {
    if (word.substr(0, equals) != spec.name) continue;
    std::string problem;
    const auto value = parse_parameter(spec, word.substr(equals + 1), problem);
    ASSERT_TRUE(value) << word << ": " << problem;
    parameters.set(spec.name, *value);
    return;
  }
  FAIL() << builder.name << " has no " << word;
}

TEST(AlgorithmsDocument, HasTheCostsThatTheSchedulesCount) {
  std::istringstream lines(document());
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("| ", 0) != 0 || line.find(" / ") == std::string::npos) continue;
    const std::string label = line.substr(2, line.find(" |", 2) - 2);
    std::istringstream words(label);
    std::string word;
    words >> word;
    const Builder& builder = require_entry(builders(), word, "schedule");
    Parameters parameters;
    while (words >> word) set_parameter(parameters, builder, word);
    EXPECT_EQ(line, row(label, builder, parameters));
    ++rows;
  }
  EXPECT_GE(rows, static_cast<int>(builders().size()));
}

TEST(AlgorithmsDocument, NamesEveryAlgorithmAndEveryChoiceOfItsForm) {
  const std::string text = document();
  for (const Builder* builder : builders()) {
    EXPECT_NE(text.find(fmt::format("\n## {}\n", builder->name)), std::string::npos) << builder->name;
    std::vector<std::string> labels;
    for (const ParameterSpec& spec : builder->parameters) {
      EXPECT_NE(text.find(fmt::format("`{}", spec.name)), std::string::npos) << builder->name << " " << spec.name;
      for (const std::string& choice : spec.choices) {
        labels.push_back(fmt::format("{} {}={}", builder->name, spec.name, choice));
      }
    }
    if (labels.empty()) labels.emplace_back(builder->name);
    for (const std::string& label : labels) EXPECT_NE(text.find("\n| " + label), std::string::npos) << label;
  }
}

}  // namespace
}  // namespace ringmaster::schedule
