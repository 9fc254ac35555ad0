// SPDX-License-Identifier: Apache-2.0
#include "experiment/block.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "account/accounts.hpp"

namespace ringmaster::experiment {
namespace {

constexpr double us_per_s = 1e6;

void to_common(std::vector<Event>& events, const measure::ClockAlignment& clock) {
  for (Event& event : events) {
    event.begin = clock.to_common(event.begin);
    event.end = clock.to_common(event.end);
  }
}

std::vector<account::RankEvents> gather_events(transport::ProcessGroup& world, int ranks, const RankBlock& mine) {
  auto main = transport::gather_vectors(world, std::span<const Event>(mine.main));
  auto engine = transport::gather_vectors(world, std::span<const Event>(mine.engine));
  std::vector<account::RankEvents> all;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    all.push_back({rank, std::move(main[r]), std::move(engine[r])});
  }
  return all;
}

/// Means over the block's steps, a rank at a time.
void fill_accounts(const std::vector<std::vector<account::StepAccounts>>& accounts, result::Block& block) {
  for (const auto& steps : accounts) {
    std::vector<double> mean(account::account_count, 0.0);
    double hidden = 0;
    double communication = 0;
    double queueing = 0;
    const double scale = steps.empty() ? 0 : us_per_s / static_cast<double>(steps.size());
    for (const account::StepAccounts& step : steps) {
      for (std::size_t a = 0; a < account::account_count; ++a) mean[a] += step.seconds[a] * scale;
      hidden += step.hidden_s * scale;
      communication += step.communication_s * scale;
      queueing += step.queueing_s * scale;
    }
    block.accounts_us.push_back(std::move(mean));
    block.hidden_us.push_back(hidden);
    block.communication_us.push_back(communication);
    block.queueing_us.push_back(queueing);
  }
}

/// Mean over ranks of each step's time.
void fill_steps(const std::vector<std::vector<account::StepAccounts>>& accounts, result::Block& block) {
  if (accounts.empty()) return;
  const std::size_t steps = accounts.front().size();
  for (std::size_t i = 0; i < steps; ++i) {
    double sum = 0;
    for (const auto& rank : accounts) sum += rank[i].step_s;
    block.step_us.push_back(sum * us_per_s / static_cast<double>(accounts.size()));
  }
}

void fill_losses(transport::ProcessGroup& world, int ranks, const RankBlock& mine, BlockSamples& samples) {
  const auto losses = transport::gather_vectors(world, std::span<const double>(mine.losses));
  for (std::size_t i = 0; i < losses.front().size(); ++i) {
    double sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += losses[static_cast<std::size_t>(rank)][i];
    const double mean = sum / ranks;
    samples.finite = samples.finite && std::isfinite(mean);
    samples.block.loss.push_back(mean);
  }
}

struct Span {
  Nanoseconds enqueued = 0;
  Nanoseconds end = 0;
};

/// Of each bucket: last end - last enqueue over ranks, mean over steps; NaN where no step has both.
void fill_buckets(const std::vector<account::RankEvents>& ranks, result::Block& block) {
  std::map<std::pair<std::int32_t, std::int32_t>, Span> spans;  // (bucket, step)
  for (const account::RankEvents& rank : ranks) {
    for (const Event& event : rank.main) {
      if (event.label != Label::bucket_enqueued) continue;
      Span& span = spans[{event.index, event.step}];
      span.enqueued = std::max(span.enqueued, event.end);
    }
    for (const Event& event : rank.engine) {
      if (event.label != Label::bucket_transfer) continue;
      Span& span = spans[{event.index, event.step}];
      span.end = std::max(span.end, event.end);
    }
  }
  std::map<std::int32_t, std::pair<double, int>> sums;
  for (const auto& [key, span] : spans) {
    if (span.end == 0 || span.enqueued == 0) continue;
    auto& [sum, n] = sums[key.first];
    sum += static_cast<double>(span.end - span.enqueued) * 1e-3;
    ++n;
  }
  if (sums.empty()) return;
  const auto buckets = static_cast<std::size_t>(sums.rbegin()->first) + 1;
  block.bucket_transfer_us.assign(buckets, std::numeric_limits<double>::quiet_NaN());
  for (const auto& [bucket, sum] : sums) {
    block.bucket_transfer_us[static_cast<std::size_t>(bucket)] = sum.first / sum.second;
  }
}

std::vector<result::TraceEvent> trace_of(const std::vector<account::RankEvents>& ranks) {
  std::vector<result::TraceEvent> trace;
  for (const account::RankEvents& rank : ranks) {
    for (const auto* lane : {&rank.main, &rank.engine}) {
      for (const Event& event : *lane) {
        result::TraceEvent out;
        out.rank = rank.rank;
        out.lane = lane == &rank.main ? "main" : "engine";
        out.name = name_of(event.label);
        out.begin_us = static_cast<double>(event.begin) * 1e-3;
        out.duration_us = static_cast<double>(event.end - event.begin) * 1e-3;
        out.step = event.step;
        out.index = event.index;
        out.bytes = event.bytes;
        trace.push_back(std::move(out));
      }
    }
  }
  return trace;
}

}  // namespace

BlockSamples gather_block(transport::ProcessGroup& world, int ranks, RankBlock mine,
                          const measure::ClockAlignment& clock) {
  to_common(mine.main, clock);
  to_common(mine.engine, clock);
  const std::vector<account::RankEvents> events = gather_events(world, ranks, mine);
  BlockSamples samples;
  samples.block.first_step = mine.first_step;
  const auto accounts = account::account(events);
  fill_steps(accounts, samples.block);
  fill_accounts(accounts, samples.block);
  fill_buckets(events, samples.block);
  fill_losses(world, ranks, mine, samples);
  for (const std::int64_t n : transport::gather_values(world, mine.involuntary_switches)) {
    samples.block.involuntary_switches += n;
  }
  if (!samples.finite) samples.block.note = "nan";
  samples.trace = trace_of(events);
  return samples;
}

}  // namespace ringmaster::experiment
