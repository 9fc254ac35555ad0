// SPDX-License-Identifier: Apache-2.0
// This machine as hwloc sees it: values and text. Input may also be an XML file or a synthetic description.
#pragma once

#include <string>

namespace ringmaster::topology {

struct MachineView {
  std::string processor;
  int packages = 0;
  int numa_nodes = 0;
  int cores = 0;
  int processing_units = 0;
  double memory_gb = 0;
  std::string line;  // "1 package, 2 cores, 2 PUs, 1 NUMA node, L3 32 MB"
  std::string tree;  // several lines, for `ringmaster topology`
  std::string xml;   // hwloc's export
};

/// `source`: "" this machine, "xml:FILE" or "synthetic:DESCRIPTION". UserError if it cannot be read.
MachineView view_machine(const std::string& source = {});

}  // namespace ringmaster::topology
