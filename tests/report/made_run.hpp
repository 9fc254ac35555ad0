// SPDX-License-Identifier: Apache-2.0
// Runs made up for tests of the report: what the samples say is known, so what must be concluded is known.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "account/accounts.hpp"
#include "base/random.hpp"
#include "result/schema.hpp"

namespace ringmaster::report {

/// One rank's step, milliseconds.
struct MadeStep {
  double data = 0.5;
  double forward = 30;
  double backward = 60;
  double skew = 1;
  double transfer = 8;
  double progress = 0;
  double optimizer = 3;
  double other = 0.5;
  double hidden = 10;
  double sum() const { return data + forward + backward + skew + transfer + progress + optimizer + other; }
};

class MadeRun {
 public:
  explicit MadeRun(int ranks = 2) {
    run.name = "made";
    run.kind = "run";
    run.status = "complete";
    run.started = "2026-01-31T12:00:00Z";
    run.ranks = ranks;
    run.machine.hosts.assign(static_cast<std::size_t>(ranks), "alpha");
    run.machine.rank_processing_units.assign(static_cast<std::size_t>(ranks), 2);
    run.machine.processor = "AMD EPYC 9B45";
    run.machine.processing_units = 2 * ranks;
    run.machine.memory_gb = 16;
    run.ceilings = {80, 12, 0.8, 5};
    run.event_cost_ns = 40;
    run.clock_residual_us = 0.3;
  }

  /// `point` by reference until the next call.
  result::Point& add(const std::string& workload, const std::string& variant, const std::string& role) {
    result::Point point;
    point.id = static_cast<int>(run.points.size());
    point.workload = workload;
    point.variant = variant;
    point.name = workload + "/" + variant;
    point.role = role;
    point.ranks = role == "single" ? 1 : run.ranks;
    point.parameters = 3'200'000;
    point.gradient_bytes = 12'800'000;
    point.buckets = 4;
    point.messages_per_step = 4L * 2 * (run.ranks - 1);
    point.wire_bytes_per_step = role == "baseline" ? 0 : 12.8e6 * 2 * (run.ranks - 1) / run.ranks;
    point.flops_per_step = 0.062 * 90e-3 * 80e9 * 10;
    point.samples_per_step = 8L * point.ranks;
    point.overlap = true;
    point.engine = "thread";
    point.what_runs = variant + " (as made up)";
    run.points.push_back(point);
    return run.points.back();
  }

  /// Rounds of the last point: `steps[rank]`, all accounts with the same noise of about 1 %.
  void rounds(const std::vector<MadeStep>& steps, int count = 15) {
    Random noise(static_cast<std::uint64_t>(run.points.size()) * 1000 + 17);
    for (int round = 0; round < count; ++round) {
      result::Block block;
      block.point = run.points.back().id;
      block.round = round;
      block.first_step = 4 * round;
      const double factor = 1 + 0.01 * noise.normal();
      double mean = 0;
      for (const MadeStep& step : steps) {
        block.accounts_us.push_back(accounts(step, 1000 * factor));
        block.hidden_us.push_back(step.hidden * 1000 * factor);
        block.communication_us.push_back((step.hidden + step.transfer) * 1000 * factor);
        block.queueing_us.push_back(0);
        mean += step.sum() * 1000 * factor / static_cast<double>(steps.size());
      }
      block.step_us.assign(4, mean);
      for (int i = 0; i < 4; ++i) block.loss.push_back(2.0 + 3.0 * std::exp(-0.05 * (4 * round + i)));
      run.blocks.push_back(block);
    }
    run.ends.push_back({run.points.back().id, 2.2, 2.1, true, "abc"});
  }
  void rounds(const MadeStep& step, int count = 15) {
    rounds(std::vector<MadeStep>(static_cast<std::size_t>(run.points.back().ranks), step), count);
  }

  result::Run run;

 private:
  static std::vector<double> accounts(const MadeStep& step, double scale) {
    using account::Account;
    std::vector<double> values(account::account_count, 0.0);
    const auto set = [&](Account a, double ms) { values[static_cast<std::size_t>(a)] = ms * scale; };
    set(Account::data_wait, step.data);
    set(Account::forward, step.forward);
    set(Account::backward, step.backward);
    set(Account::exposed_skew, step.skew);
    set(Account::exposed_transfer, step.transfer);
    set(Account::progress, step.progress);
    set(Account::optimizer, step.optimizer);
    set(Account::other, step.other);
    return values;
  }
};

/// Library, two variants (one really faster, one not), twin and one rank.
inline MadeRun whole_made_run() {
  MadeRun made;
  MadeStep library;
  library.transfer = 40;
  made.add("wide-mlp", "mpi_allreduce", "baseline").unigram_entropy = 3.3;
  made.rounds(library);
  MadeStep fast;
  made.add("wide-mlp", "ring", "variant").same_as = {"direct"};
  made.rounds(fast);
  made.add("wide-mlp", "tree", "variant");
  made.rounds(library);
  result::Point& same = made.add("wide-mlp", "direct", "variant");
  same.skipped = "the same schedule as wide-mlp/ring at 2 ranks";
  MadeStep twin;
  twin.transfer = twin.skew = twin.hidden = 0;
  made.add("wide-mlp", "no communication", "twin");
  made.rounds(twin);
  made.add("wide-mlp", "one rank", "single");
  made.rounds(twin);
  return made;
}

}  // namespace ringmaster::report
