// SPDX-License-Identifier: Apache-2.0
// A published run names no host, user, path or address, and keeps what makes it worth publishing.
#include <gtest/gtest.h>

#include "result/store.hpp"
#include "sample_run.hpp"

namespace ringmaster::result {
namespace {

Run revealing_run() {
  result::Run run = sample_run();
  run.machine.hosts = {"gpu17.cluster.example.org", "gpu18.cluster.example.org", "gpu17.cluster.example.org"};
  run.arguments = {"run", "/home/alice.b/my configs/x.yaml", "--output=/scratch/alice.b/out", "~/secret"};
  run.config_text = "name: sample\ndata:\n  path: /home/alice.b/the corpus/a.txt\n  other: configs/corpus\n";
  run.data = "text: 3 files in '/home/alice.b/the corpus', by alice.b";
  run.machine.environment = {{"OMPI_MCA_btl_tcp_if_include", "10.1.2.0/24"},
                             {"UCX_NET_DEVICES", "fe80::1ff:fe23:4567:890a"},
                             {"OMPI_MCA_orte_hnp_uri", "12;tcp://10.1.2.3:4567"}};
  run.machine.versions = {{"mpi", "Open MPI 4.1.4.2"}, {"build", "0.1.0 (gcc 12.2.0, /usr/lib/libopenblas.so)"}};
  run.interruptions = {{1, "gpu18.cluster.example.org", "lost gpu17 at 192.168.0.7:1234 (aa:bb:cc:dd:ee:ff)",
                        "waiting for alice.b@gpu19"},
                       {2, "gpu19", "SIGTERM at 11:30:15", ""}};
  run.stamps = {"forward / backward at 3.5 GB/s on gpu17"};
  return run;
}

TEST(Publish, LeavesNoHostUserPathOrAddress) {
  const std::string text = to_json_complete(published(revealing_run()));
  for (const char* trace : {"gpu17", "gpu18", "gpu19", "cluster.example", "alice", "/home", "/scratch", "/usr", "~/",
                            "my configs", "the corpus", "10.1.2", "192.168", "fe80", "aa:bb:cc", "1234:"}) {
    EXPECT_EQ(text.find(trace), std::string::npos) << trace << " in " << text;
  }
}

TEST(Publish, NumbersNodesInTheOrderOfRanks) {
  const result::Run clean = published(revealing_run());
  EXPECT_EQ(clean.machine.hosts, (std::vector<std::string>{"node0", "node1", "node0"}));
  EXPECT_EQ(clean.interruptions[0].host, "node1");
  EXPECT_EQ(clean.interruptions[1].host, "node2");
  EXPECT_EQ(clean.stamps[0], "forward / backward at 3.5 GB/s on node0");
}

TEST(Publish, KeepsProcessorVersionsAndTimes) {
  const result::Run run = revealing_run();
  const result::Run clean = published(run);
  EXPECT_EQ(clean.machine.processor, run.machine.processor);
  EXPECT_EQ(clean.machine.topology, run.machine.topology);
  EXPECT_EQ(clean.machine.versions[0].second, "Open MPI 4.1.4.2");
  EXPECT_EQ(clean.machine.versions[1].second, "0.1.0 (gcc 12.2.0, <path>)");
  EXPECT_EQ(clean.started, run.started);
  EXPECT_NE(clean.interruptions[1].signal_or_error.find("11:30:15"), std::string::npos);
  EXPECT_NE(clean.config_text.find("other: configs/corpus\n"), std::string::npos) << clean.config_text;
}

TEST(Publish, KeepsEverythingOfARunWithoutSecrets) {
  result::Run run = sample_run();
  run.machine.hosts = {"node0", "node1"};
  run.interruptions[0].host = "node1";
  EXPECT_EQ(to_json_complete(published(run)), to_json_complete(run));
}

TEST(Publish, IsTheSameWhenDoneTwice) {
  const result::Run once = published(revealing_run());
  EXPECT_EQ(to_json_complete(published(once)), to_json_complete(once));
}

TEST(Publish, AHostThatIsCalledLikeAnAlgorithmRenamesNoAlgorithm) {
  result::Run run = sample_run();
  run.machine.hosts = {"ring", "10.0.0.5"};
  const result::Run clean = published(run);
  EXPECT_EQ(clean.points[1].variant, "ring");
  EXPECT_EQ(clean.machine.hosts, (std::vector<std::string>{"node0", "node1"}));
}

}  // namespace
}  // namespace ringmaster::result
