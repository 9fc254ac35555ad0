// SPDX-License-Identifier: Apache-2.0
// Every config that comes with the program is valid, and every model in configs/models can be named.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "experiment/config.hpp"

namespace ringmaster::experiment {
namespace {

namespace fs = std::filesystem;
const fs::path configs = RINGMASTER_SOURCE_DIR "/configs";

TEST(ShippedConfigs, AllAreValid) {
  int found = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(configs)) {
    const std::string parent = entry.path().parent_path().filename().string();
    if (entry.path().extension() != ".yaml" || parent == "models" || parent == "labs") continue;
    ++found;
    try {
      EXPECT_FALSE(load_config(entry.path().string(), {}).points.empty()) << entry.path();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GE(found, 5);
}

TEST(ShippedConfigs, EveryModelCanBeNamed) {
  int found = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(configs / "models")) {
    ++found;
    const std::string model = "model: " + entry.path().stem().string() + "\n";
    try {
      EXPECT_FALSE(parse_config(model, (configs / "any.yaml").string(), {}).points.empty());
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_GE(found, 4);
}

TEST(ShippedConfigs, TheQuickstartHasTwoWorkloadsAllSixCollectivesAndSharedMemory) {
  const Config config = load_config((configs / "quickstart.yaml").string(), {});
  for (const char* workload : {"transformer", "mlp"}) {
    const auto measured = std::count_if(config.points.begin(), config.points.end(), [&](const PlannedPoint& point) {
      return point.workload == workload && (point.role == "variant" || point.role == "baseline");
    });
    EXPECT_EQ(measured, 7) << workload;
    const auto shared = std::count_if(config.points.begin(), config.points.end(), [&](const PlannedPoint& point) {
      return point.workload == workload && point.role == "variant" &&
             point.setup.train.allreduce.transport == collective::Transport::shared_memory;
    });
    EXPECT_EQ(shared, 1) << workload;
  }
}

}  // namespace
}  // namespace ringmaster::experiment
