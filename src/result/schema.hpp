// SPDX-License-Identifier: Apache-2.0
// What a run leaves behind, as values. One folder a run:
//   run.json       who, where, with what, which points, how it ended, and at the end the summary
//   samples.jsonl  one line a block (a point in a round), flushed as it is measured; a torn last line is dropped
//   summary.csv    one line a point, fixed columns
//   trace.json     Chrome/Perfetto
// schema_version is 1; readers accept older versions or say which they need. Keys carry their unit (docs/results.md).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/statistics.hpp"

namespace ringmaster::result {

constexpr int schema_version = 1;

using Texts = std::vector<std::pair<std::string, std::string>>;  // ordered name -> text

/// Keys of `accounts_us`, in the order of Block::accounts_us and account::Account.
inline constexpr std::array account_keys{"data_wait",        "forward",         "backward", "exposed_skew",
                                         "exposed_transfer", "progress",        "encode",   "optimizer",
                                         "host_gap",         "pipeline_bubble", "other",    "unaccounted"};

struct Machine {
  std::vector<std::string> hosts;          // of each rank
  std::string processor;                   // model name
  int processing_units = 0;                // of the machine
  std::vector<int> rank_processing_units;  // in each rank's cpuset
  double memory_gb = 0;
  std::string topology;  // one line from hwloc
  Texts versions;        // ringmaster, compiler, MPI, hwloc, OpenBLAS, ...
  Texts mpi_settings;
  Texts environment;  // allow-listed variables only
};

/// Measured in the same run; results are shown as shares of these.
struct Ceilings {
  double gemm_gflop_per_s = 0;  // sgemm n = 1024, same threads, all ranks at once: mean of ranks, median of rounds
  double copy_gb_per_s = 0;     // all ranks copy at once (read + written bytes), sum of ranks
  double pingpong_us = 0;       // 8 bytes, one way, ranks 0 and 1
  double link_gb_per_s = 0;     // one flow, ranks 0 and 1
};

struct Interruption {
  int rank = 0;
  std::string host;
  std::string signal_or_error;  // "SIGTERM", "rank 2 failed: ..."
  std::string activity;         // Activity::describe()
};

/// One point of a sweep: a training run (or a bench size) with its settings.
struct Point {
  int id = 0;
  std::string name;                  // "ring", "wide-mlp/ring": unique in the run
  std::string workload;              // points of one workload are compared with each other
  std::string variant;               // allreduce name, or "no communication", "one rank"
  std::string role = "variant";      // "variant" | "twin" | "single" (one rank) | "baseline" (the library)
  Texts settings;                    // dotted.key -> value, what differs from the base config
  std::string what_runs;             // what really ran
  std::vector<std::string> same_as;  // names that are the same schedule at this rank count
  std::string skipped;               // reason, if it did not run
  int ranks = 0;
  std::int64_t parameters = 0;
  std::int64_t gradient_bytes = 0;
  int buckets = 0;
  std::int64_t messages_per_step = 0;  // busiest rank
  double wire_bytes_per_step = 0;      // busiest rank
  double flops_per_step = 0;           // per rank, forward + backward
  std::int64_t samples_per_step = 0;   // over all ranks
  std::string data_hash;               // equal for equal data; empty: none, or not set
  double unigram_entropy = 0;          // nats, of the tokens this point reads; 0: none, or not set
  bool overlap = false;
  std::string engine;  // "inline" | "thread"
};

/// One block: k steps of one point in one round, over all ranks.
struct Block {
  int point = 0;
  int round = 0;
  int attempt = 0;      // 0; resumed runs count up
  bool warmup = false;  // kept, but not in any statistic
  int first_step = 0;
  std::vector<double> step_us;                   // of each step: mean over ranks of the rank's step time
  std::vector<double> loss;                      // of each step: mean over ranks
  std::vector<std::vector<double>> accounts_us;  // [rank][account]: mean over the block's steps
  std::vector<double> hidden_us;                 // [rank]
  std::vector<double> communication_us;          // [rank]: union of transfers
  std::vector<double> queueing_us;               // [rank]
  std::vector<double> bucket_transfer_us;        // of each bucket: last end - last enqueue, mean over steps
  std::int64_t involuntary_switches = 0;         // sum over ranks
  std::string note;                              // "nan", "oversubscribed", ...
};

/// Ends of a point: what is known when it is done.
struct PointEnd {
  int point = 0;
  double held_out_loss = 0;
  double final_loss = 0;
  bool parameters_equal = true;  // hash over ranks
  std::string parameter_hash;
};

/// A row of bench.
struct BenchRow {
  std::string variant;
  std::string role = "variant";  // "variant" | "library" | "baseline": the library's own choice | "bound": a copy
  std::string what_runs;
  std::vector<std::string> same_as;
  std::string skipped;
  std::int64_t bytes = 0;
  std::int64_t count = 0;
  std::string type;
  std::string reduction = "sum";
  struct Side {
    std::vector<double> samples_us;   // one a round: mean over ranks of the mean of k calls
    std::vector<double> transfer_us;  // last end - last start; empty where the clock is too coarse
    std::vector<double> skew_us;
    std::int64_t wrong = -1;  // -1: not checked
  };
  Side out_of_place;
  Side in_place;
};

/// An event of the last block of a point, for the trace. Times on the common clock.
struct TraceEvent {
  int rank = 0;
  std::string lane;  // "main" | "engine"
  std::string name;  // of the label: "forward", "bucket_transfer", ...
  double begin_us = 0;
  double duration_us = 0;
  std::int32_t step = 0;
  std::int32_t index = -1;  // layer or bucket
  std::int64_t bytes = 0;
};

struct Run {
  int version = schema_version;
  std::string kind = "run";  // "run" | "bench"
  std::string name;
  std::string status = "running";  // "running" | "complete" | "interrupted" | "failed"
  std::string started;             // ISO 8601, UTC
  std::string ended;
  std::string revision;
  std::string config_text;  // resolved config, YAML
  std::string config_hash;
  std::vector<std::string> arguments;
  int ranks = 1;
  std::string device = "cpu";
  Machine machine;
  Ceilings ceilings;
  double clock_residual_us = 0;
  double event_cost_ns = 0;         // one recorded event
  double unigram_entropy = 0;       // nats; 0: no tokens
  std::string data;                 // what was read
  std::vector<std::string> stamps;  // "oversubscribed: not a performance result", ...
  std::vector<Point> points;
  std::vector<Block> blocks;   // from samples.jsonl
  std::vector<PointEnd> ends;  // from samples.jsonl
  std::vector<BenchRow> rows;  // bench, from samples.jsonl
  std::vector<Interruption> interruptions;
  std::vector<TraceEvent> trace;  // from trace.json
};

}  // namespace ringmaster::result
