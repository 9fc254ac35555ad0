// SPDX-License-Identifier: Apache-2.0
// The blocks of a run by point and round: what every statistic of the report starts from. Internal to `report`.
// Warm-up blocks and blocks whose loss was not finite are left out; a block measured again replaces the earlier one.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "account/accounts.hpp"
#include "result/schema.hpp"

namespace ringmaster::report {

using Rounds = std::map<int, const result::Block*>;  // round -> block

class Samples {
 public:
  explicit Samples(const result::Run& run);

  const Rounds& of(const result::Point& point) const { return rounds_[index(point)]; }
  bool diverged(const result::Point& point) const { return diverged_[index(point)]; }
  bool in_two_goes(const result::Point& point) const;

  /// The point that `point` is measured against in that role: same workload, settings that agree where they can
  /// (what is about communication may differ). Null if there is none with samples.
  const result::Point* partner(const result::Point& point, const std::string& role) const;

 private:
  std::size_t index(const result::Point& point) const { return static_cast<std::size_t>(&point - run_.points.data()); }

  const result::Run& run_;
  std::vector<Rounds> rounds_;
  std::vector<bool> diverged_;
};

/// Seconds.
double step_s(const result::Block& block);
/// Of one account, mean over ranks; of one rank.
double account_s(const result::Block& block, account::Account account);
double rank_account_s(const result::Block& block, std::size_t rank, account::Account account);
/// Bus bandwidth of an allreduce, as nccl-tests defines it.
double allreduce_busbw(double algbw, int ranks);
/// Mean of a list in microseconds, in seconds.
double mean_us_s(const std::vector<double>& values_us);

/// One value a round, in the order of rounds.
std::vector<double> values(const Rounds& rounds, const std::function<double(const result::Block&)>& value);
/// Step times of the rounds that both have.
std::pair<std::vector<double>, std::vector<double>> paired_steps(const Rounds& a, const Rounds& b);

}  // namespace ringmaster::report
