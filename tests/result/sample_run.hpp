// SPDX-License-Identifier: Apache-2.0
// A small run with a value in every member, for tests of the store and of the publisher.
#pragma once

#include "result/schema.hpp"

namespace ringmaster::result {

inline Block sample_block(int point, int round) {
  Block block;
  block.point = point;
  block.round = round;
  block.attempt = 1;
  block.first_step = 4 * round;
  block.step_us = {1000.25, 1001.5};
  block.loss = {5.5, 5.25};
  block.accounts_us = {std::vector<double>(account_keys.size(), 10.0), std::vector<double>(account_keys.size(), 20.0)};
  block.accounts_us[1][3] = 77;
  block.hidden_us = {1, 2};
  block.communication_us = {3, 4};
  block.queueing_us = {0.5, 0.25};
  block.bucket_transfer_us = {7, 8, 9};
  block.involuntary_switches = 3;
  block.note = "oversubscribed";
  return block;
}

inline Run sample_run() {
  Run run;
  run.name = "sample";
  run.started = "2026-01-31T12:00:00Z";
  run.revision = "0123abcd";
  run.config_text = "name: sample\nmodel: mlp\n";
  run.config_hash = "deadbeef";
  run.arguments = {"run", "configs/sample.yaml"};
  run.ranks = 2;
  run.machine.hosts = {"alpha", "beta"};
  run.machine.processor = "AMD EPYC 9B45";
  run.machine.processing_units = 2;
  run.machine.rank_processing_units = {1, 1};
  run.machine.memory_gb = 15.5;
  run.machine.topology = "1 package, 2 cores";
  run.machine.versions = {{"mpi", "Open MPI 4.1.4"}, {"hwloc", "2.9.0"}};
  run.machine.mpi_settings = {{"pml", "ob1"}};
  run.machine.environment = {{"OMP_NUM_THREADS", "1"}};
  run.ceilings = {80, 12.5, 0.7, 5.5};
  run.clock_residual_us = 0.4;
  run.event_cost_ns = 35;
  run.unigram_entropy = 3.3;
  run.data = "text: 12 files";
  run.stamps = {"oversubscribed: not a performance result"};
  for (const char* variant : {"mpi_allreduce", "ring"}) {
    Point point;
    point.id = static_cast<int>(run.points.size());
    point.name = variant;
    point.workload = "transformer";
    point.variant = variant;
    point.role = point.id == 0 ? "baseline" : "variant";
    point.settings = {{"communication.collective", variant}};
    point.what_runs = "really this";
    point.same_as = {"direct"};
    point.ranks = 2;
    point.parameters = 1000;
    point.gradient_bytes = 4000;
    point.buckets = 3;
    point.messages_per_step = 6;
    point.wire_bytes_per_step = 4000;
    point.flops_per_step = 1e9;
    point.samples_per_step = 16;
    point.data_hash = "00c0ffee";
    point.unigram_entropy = 3.25;
    point.overlap = true;
    point.engine = "thread";
    run.points.push_back(point);
  }
  run.blocks = {sample_block(0, 0), sample_block(1, 0), sample_block(1, 1)};
  run.ends = {{1, 5.0, 5.25, true, "abc"}};
  BenchRow row;
  row.variant = "ring";
  row.role = "baseline";
  row.bytes = 1024;
  row.count = 256;
  row.type = "float32";
  row.out_of_place = {{10, 11}, {9, 10}, {1, 0.5}, 0};
  run.rows = {row};
  run.interruptions = {{1, "beta", "SIGTERM", "point ring, step 3"}};
  return run;
}

}  // namespace ringmaster::result
