// SPDX-License-Identifier: Apache-2.0
// The YAML config: strict, with everything defaulted, every error with its place, all errors at once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collective/allreduce.hpp"
#include "data/dataset.hpp"
#include "model/model.hpp"
#include "parallel/data_parallel.hpp"
#include "transport/threads.hpp"

namespace ringmaster::experiment {

struct MeasureOptions {
  int rounds = 15;             // blocks a point; the unit of comparison
  int steps = 4;               // optimizer steps a block
  int warmup = 1;              // blocks a point before the first that counts
  std::int64_t held_out = 32;  // held-out samples for the final loss
  bool twin = true;            // the no-communication twin
  bool single = true;          // one rank alone, for scaling efficiency
  bool recording_cost = true;  // the baseline once more with the recorder off: what measuring costs
  double timeout_s = 60;       // standstill that ends the job
  int check_every = 0;         // steps between hash checks of every bucket over ranks; 0: at the end only
};

struct CheckpointOptions {
  std::string folder;  // "" : off
  int every = 0;       // steps
};

/// One setting of everything: a training run.
struct Setup {
  model::ModelChoice model;
  std::string model_name;  // as written: a kind or a name from configs/models
  data::DataChoice data;
  data::LoaderOptions loader;  // threads < 0: auto (as many as the rank's processing units leave free)
  parallel::DataParallelOptions train;
  std::string engine = "auto";  // auto | thread | inline
  int threads = 1;              // BLAS threads a rank
  transport::LinkLimit link;    // planted: every message of ours takes at least this (plant.link_*)
  int ranks = 0;                // 0: all
};

/// A sweep point before it runs: settings that differ from the base, and what they make.
struct PlannedPoint {
  std::string name;
  std::string workload;
  std::string role;  // "variant" | "baseline" | "twin" | "single" | "unrecorded"
  std::vector<std::pair<std::string, std::string>> settings;
  Setup setup;
};

struct Assertion {
  std::string quantity;    // "exposed_share", "step_us", "held_out_loss", ...
  std::string comparison;  // "<", "<=", ">", ">="
  double bound = 0;
  std::string text;  // as written
};

struct Config {
  std::string name;
  std::uint64_t seed = 1;
  std::string device = "auto";
  MeasureOptions measure;
  CheckpointOptions checkpoint;
  std::vector<PlannedPoint> points;  // the sweep's product, twins and single included
  std::vector<Assertion> assertions;
  std::string resolved;  // YAML of everything, defaults filled in
  std::string hash;      // of `resolved`
};

/// Reads and checks text. `file` is for places; relative paths in it stand from its folder. `overrides` are
/// "dotted.key=value". Throws UserError with every complaint.
Config parse_config(const std::string& text, const std::string& file, const std::vector<std::string>& overrides);
/// The same from a file.
Config load_config(const std::string& file, const std::vector<std::string>& overrides);

/// "ring" or "direct(form=one-shot)" from a command line. Throws UserError.
collective::AllreduceChoice parse_collective(const std::string& text);

}  // namespace ringmaster::experiment
