// SPDX-License-Identifier: Apache-2.0
// One suite over the registry: what every exporter must do, whatever it writes.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "../report/made_run.hpp"
#include "base/registry.hpp"
#include "report/exporter.hpp"

namespace ringmaster::report {

void PrintTo(const Exporter* exporter, std::ostream* out);
void PrintTo(const Exporter* exporter, std::ostream* out) { *out << exporter->name; }

namespace {

class EveryExporter : public testing::TestWithParam<const Exporter*> {
 protected:
  static std::string written(const result::Run& run) {
    std::ostringstream out;
    GetParam()->write(run, {}, out);
    return out.str();
  }
};

TEST_P(EveryExporter, HasANameAndASummary) {
  EXPECT_FALSE(std::string(GetParam()->name).empty());
  EXPECT_FALSE(std::string(GetParam()->summary).empty());
  EXPECT_EQ(find_entry(exporters(), GetParam()->name), GetParam());
}

TEST_P(EveryExporter, WritesAWholeRunAndTheSameTwice) {
  const MadeRun made = whole_made_run();
  const std::string text = written(made.run);
  EXPECT_FALSE(text.empty());
  EXPECT_EQ(written(made.run), text);
  EXPECT_EQ(text.back(), '\n');
}

// report is called on whatever a kill left behind.
TEST_P(EveryExporter, WritesARunThatWasCutAnywhere) {
  const MadeRun whole = whole_made_run();
  for (std::size_t blocks = 0; blocks <= whole.run.blocks.size(); blocks += 7) {
    result::Run run = whole.run;
    run.blocks.resize(blocks);
    run.ends.clear();
    run.status = "interrupted";
    EXPECT_FALSE(written(run).empty());
  }
  EXPECT_FALSE(written(result::Run{}).empty());
}

TEST_P(EveryExporter, WritesBlocksWithoutAccounts) {
  MadeRun made = whole_made_run();
  for (result::Block& block : made.run.blocks) {
    block.accounts_us.clear();
    block.hidden_us.clear();
    block.communication_us.clear();
  }
  const std::string text = written(made.run);
  EXPECT_EQ(text.find("nan"), std::string::npos);
}

TEST_P(EveryExporter, WritesABench) {
  result::Run run;
  run.kind = "bench";
  run.ranks = 2;
  for (const std::int64_t bytes : {8, 1024, 1'048'576}) {
    result::BenchRow row;
    row.variant = "ring";
    row.bytes = bytes;
    row.count = bytes / 4;
    row.type = "float";
    row.out_of_place.samples_us = {10, 11, 12};
    run.rows.push_back(row);
  }
  run.rows.push_back({});
  run.rows.back().variant = "swing";
  run.rows.back().skipped = "needs a power of two";
  EXPECT_FALSE(written(run).empty());
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryExporter, testing::ValuesIn(exporters().begin(), exporters().end()),
                         [](const auto& test) { return std::string(test.param->name); });

TEST(Exporters, HaveNamesAndFilesOfTheirOwn) {
  std::set<std::string> names;
  std::set<std::string> files;
  for (const Exporter* exporter : exporters()) {
    EXPECT_TRUE(names.insert(exporter->name).second) << exporter->name;
    const std::string file = exporter->file;
    EXPECT_TRUE(file.empty() || files.insert(file).second) << file;
    EXPECT_TRUE(file != "run.json" && file != "samples.jsonl") << "those are the store's";
  }
}

}  // namespace
}  // namespace ringmaster::report
