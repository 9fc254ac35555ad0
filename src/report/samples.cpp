// SPDX-License-Identifier: Apache-2.0
#include "report/samples.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/statistics.hpp"

namespace ringmaster::report {
namespace {

bool finite(const result::Block& block) {
  return std::all_of(block.loss.begin(), block.loss.end(), [](double loss) { return std::isfinite(loss); });
}

bool is_communication(const std::string& key) { return key.rfind("communication", 0) == 0; }

/// Settings that two points share: all that count, and all that are not about communication.
struct Agreement {
  int others = 0;
  int communication = 0;
  bool operator<(const Agreement& that) const {
    return std::pair(others, communication) < std::pair(that.others, that.communication);
  }
};

Agreement agreement(const result::Point& a, const result::Point& b) {
  Agreement score;
  for (const auto& setting : a.settings) {
    if (std::find(b.settings.begin(), b.settings.end(), setting) == b.settings.end()) continue;
    ++(is_communication(setting.first) ? score.communication : score.others);
  }
  return score;
}

}  // namespace

Samples::Samples(const result::Run& run) : run_(run), rounds_(run.points.size()), diverged_(run.points.size(), false) {
  std::map<int, std::size_t> index_of;
  for (std::size_t i = 0; i < run.points.size(); ++i) index_of[run.points[i].id] = i;
  for (const result::Block& block : run.blocks) {
    const auto at = index_of.find(block.point);
    if (at == index_of.end()) continue;
    if (!finite(block)) {
      diverged_[at->second] = true;
    } else if (!block.warmup && !block.step_us.empty()) {
      const result::Block*& place = rounds_[at->second][block.round];
      if (place == nullptr || place->attempt <= block.attempt) place = &block;
    }
  }
}

bool Samples::in_two_goes(const result::Point& point) const {
  std::set<int> attempts;
  for (const auto& [round, block] : of(point)) attempts.insert(block->attempt);
  return attempts.size() > 1;
}

const result::Point* Samples::partner(const result::Point& point, const std::string& role) const {
  const result::Point* best = nullptr;
  for (const result::Point& other : run_.points) {
    if (other.role != role || other.workload != point.workload || of(other).empty()) continue;
    if (best == nullptr || agreement(point, *best) < agreement(point, other)) best = &other;
  }
  return best;
}

double allreduce_busbw(double algbw, int ranks) { return algbw * 2 * (ranks - 1) / ranks; }

double mean_us_s(const std::vector<double>& values_us) { return values_us.empty() ? 0 : mean(values_us) * 1e-6; }

double step_s(const result::Block& block) { return mean_us_s(block.step_us); }

double rank_account_s(const result::Block& block, std::size_t rank, account::Account account) {
  const auto a = static_cast<std::size_t>(account);
  if (rank >= block.accounts_us.size() || a >= block.accounts_us[rank].size()) return 0;
  return block.accounts_us[rank][a] * 1e-6;
}

double account_s(const result::Block& block, account::Account account) {
  double sum = 0;
  for (std::size_t rank = 0; rank < block.accounts_us.size(); ++rank) sum += rank_account_s(block, rank, account);
  return block.accounts_us.empty() ? 0 : sum / static_cast<double>(block.accounts_us.size());
}

std::vector<double> values(const Rounds& rounds, const std::function<double(const result::Block&)>& value) {
  std::vector<double> list;
  for (const auto& [round, block] : rounds) list.push_back(value(*block));
  return list;
}

std::pair<std::vector<double>, std::vector<double>> paired_steps(const Rounds& a, const Rounds& b) {
  std::pair<std::vector<double>, std::vector<double>> pairs;
  for (const auto& [round, block] : a) {
    const auto other = b.find(round);
    if (other == b.end()) continue;
    pairs.first.push_back(step_s(*block));
    pairs.second.push_back(step_s(*other->second));
  }
  return pairs;
}

}  // namespace ringmaster::report
