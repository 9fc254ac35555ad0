// SPDX-License-Identifier: Apache-2.0
#include "topology/machine.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "base/error.hpp"

namespace ringmaster::topology {
namespace {

TEST(Machine, SyntheticDescriptionsAreCounted) {
  const MachineView view = view_machine("synthetic:pack:2 numa:1 l3:1 core:4 pu:2");
  EXPECT_EQ(view.packages, 2);
  EXPECT_EQ(view.numa_nodes, 2);
  EXPECT_EQ(view.cores, 8);
  EXPECT_EQ(view.processing_units, 16);
  EXPECT_NE(view.line.find("2 packages, 8 cores, 16 PUs, 2 NUMA nodes, 2 x L3"), std::string::npos) << view.line;
  EXPECT_NE(view.tree.find("NUMANode 1"), std::string::npos) << view.tree;
}

TEST(Machine, ThisMachineHasProcessingUnits) {
  const MachineView view = view_machine();
  EXPECT_GE(view.processing_units, 1);
  EXPECT_GT(view.memory_gb, 0);
}

TEST(Machine, AnExportedTopologyReadsBackTheSame) {
  const MachineView view = view_machine("synthetic:pack:1 core:3 pu:1");
  const std::string path = testing::TempDir() + "ringmaster_topology.xml";
  std::ofstream(path) << view.xml;
  const MachineView again = view_machine("xml:" + path);
  EXPECT_EQ(again.tree, view.tree);
  std::remove(path.c_str());
}

TEST(Machine, WrongSourcesAreUserErrors) {
  EXPECT_THROW(view_machine("xml:no-such-file.xml"), UserError);
  EXPECT_THROW(view_machine("synthetic:banana"), UserError);
  EXPECT_THROW(view_machine("banana"), UserError);
}

}  // namespace
}  // namespace ringmaster::topology
