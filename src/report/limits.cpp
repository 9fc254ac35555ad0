// SPDX-License-Identifier: Apache-2.0
// What limits a run, in words. Each cause is given the seconds of a step that its cure can win at most; what one
// cause explains is taken away before the next one is asked (docs/method.md, Limits).
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.hpp"
#include "report/samples.hpp"
#include "report/summary.hpp"

namespace ringmaster::report {
namespace {

using account::Account;

constexpr double worth_naming = 0.02;    // of the step
constexpr double good_gemm_share = 0.6;  // of the GEMM rate: what a good step reaches
constexpr double slow_network_gb_per_s = 2;
constexpr std::int64_t small_bucket_bytes = 128 << 10;
constexpr int many_buckets = 8;

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

/// Means over the rounds of one point, seconds.
struct RankTimes {
  double data = 0;
  double compute = 0;  // forward, backward, optimizer, encode, other: what the rank itself does
  double skew = 0;
};

/// What the causes are told from.
struct Evidence {
  const result::Run& run;
  const PointSummary& summary;
  const result::Point& point;
  double step = 0;
  std::vector<RankTimes> ranks;
  std::size_t slowest = 0;   // by compute
  double slowest_often = 0;  // share of rounds in which that rank was the slowest
  double skew = 0;           // what is left of it to explain, mean over ranks
  double exposed = 0;        // transfer and progress, what is left to explain
  double progress = 0;
  bool crowded = false;
  double best_exposed = 0;  // of the confirmed faster variant, or what the judged one has: the link alone

  double account(Account a) const { return summary.share[static_cast<std::size_t>(a)] * step; }
};

double compute_of(const result::Block& block, std::size_t rank) {
  double sum = 0;
  for (const Account a : {Account::forward, Account::backward, Account::optimizer, Account::encode, Account::other}) {
    sum += rank_account_s(block, rank, a);
  }
  return sum;
}

std::vector<RankTimes> rank_times(const Rounds& rounds) {
  std::vector<RankTimes> ranks;
  for (const auto& [round, block] : rounds) {
    ranks.resize(std::max(ranks.size(), block->accounts_us.size()));
    for (std::size_t r = 0; r < block->accounts_us.size(); ++r) {
      const double scale = 1.0 / static_cast<double>(rounds.size());
      ranks[r].data += scale * rank_account_s(*block, r, Account::data_wait);
      ranks[r].compute += scale * compute_of(*block, r);
      ranks[r].skew += scale * rank_account_s(*block, r, Account::exposed_skew);
    }
  }
  return ranks;
}

double how_often_slowest(const Rounds& rounds, std::size_t rank) {
  int times = 0;
  for (const auto& [round, block] : rounds) {
    std::size_t slowest = 0;
    for (std::size_t r = 1; r < block->accounts_us.size(); ++r) {
      if (compute_of(*block, r) > compute_of(*block, slowest)) slowest = r;
    }
    if (slowest == rank) ++times;
  }
  return rounds.empty() ? 0 : times / static_cast<double>(rounds.size());
}

Evidence gather(const result::Run& run, const PointSummary& summary, const Rounds& rounds) {
  Evidence evidence{run, summary, *summary.point, summary.step_s.value, rank_times(rounds), 0, 0, 0, 0, 0, false, 0};
  const auto slowest = std::max_element(evidence.ranks.begin(), evidence.ranks.end(),
                                        [](const RankTimes& a, const RankTimes& b) { return a.compute < b.compute; });
  if (slowest != evidence.ranks.end()) evidence.slowest = static_cast<std::size_t>(slowest - evidence.ranks.begin());
  evidence.slowest_often = how_often_slowest(rounds, evidence.slowest);
  evidence.skew = evidence.account(Account::exposed_skew);
  evidence.progress = evidence.account(Account::progress);
  evidence.exposed = evidence.account(Account::exposed_transfer) + evidence.progress;
  for (const std::string& stamp : run.stamps) evidence.crowded |= stamp.rfind("oversubscribed", 0) == 0;
  return evidence;
}

// What a faster variant does over the same link is not the link's fault.
double best_exposed(const std::vector<PointSummary>& summaries, const Winner& best, const Evidence& evidence) {
  const double own = evidence.account(Account::exposed_transfer);
  for (const PointSummary& summary : summaries) {
    if (!best.faster || summary.point != best.point) continue;
    return std::min(own, summary.share[static_cast<std::size_t>(Account::exposed_transfer)] * summary.step_s.value);
  }
  return own;
}

Limit make_limit(const Evidence& evidence, Cause cause, double seconds, std::string sentence, std::string cure) {
  Limit limit;
  limit.cause = cause;
  limit.seconds = std::max(seconds, 0.0);
  limit.share = evidence.step > 0 ? limit.seconds / evidence.step : 0;
  limit.sentence = std::move(sentence);
  limit.cure = std::move(cure);
  return limit;
}

/// Without rank `index`, or 0 if there is no other.
double mean_of_others(const Evidence& evidence, std::size_t index, double RankTimes::*member) {
  double sum = 0;
  for (std::size_t r = 0; r < evidence.ranks.size(); ++r) sum += r == index ? 0 : evidence.ranks[r].*member;
  return evidence.ranks.size() > 1 ? sum / static_cast<double>(evidence.ranks.size() - 1) : 0;
}

// The rank that waits longest for data holds everybody up; what the others wait for it is skew.
Limit data_limit(Evidence& evidence) {
  std::size_t worst = 0;
  for (std::size_t r = 1; r < evidence.ranks.size(); ++r) {
    if (evidence.ranks[r].data > evidence.ranks[worst].data) worst = r;
  }
  const double seconds = evidence.ranks.empty() ? 0 : evidence.ranks[worst].data;
  const double others = mean_of_others(evidence, worst, &RankTimes::data);
  const auto ranks = static_cast<double>(std::max<std::size_t>(evidence.ranks.size(), 1));
  evidence.skew -= std::min(evidence.skew, (seconds - others) * (ranks - 1) / ranks);
  const bool one = evidence.ranks.size() > 1 && others < 0.5 * seconds;
  const std::string who = one ? fmt::format("rank {} waits", worst) : "every rank waits";
  return make_limit(
      evidence, Cause::data, seconds,
      fmt::format("the loader is too slow: {} {} of a {} step for data ({})", who, format_time(seconds),
                  format_time(evidence.step), percent(seconds / evidence.step)),
      one ? fmt::format("look at the storage of rank {}'s node; data.loaders: one more thread a rank", worst)
          : "data.loaders: one more thread a rank, or a faster place for data.path");
}

// A rank whose own work takes longer: the others' skew, and transfers that cannot move while it computes.
Limit slow_rank_limit(Evidence& evidence) {
  const std::size_t slow = evidence.slowest;
  const double others = mean_of_others(evidence, slow, &RankTimes::compute);
  const double own = evidence.ranks.empty() ? 0 : evidence.ranks[slow].compute;
  const double excess = evidence.ranks.size() > 1 ? own - others : 0;
  const bool steady = excess > 0.05 * evidence.step && evidence.slowest_often >= 0.7;
  if (!steady) {
    const double jitter = evidence.skew;
    return make_limit(evidence, Cause::slow_rank, evidence.crowded ? 0 : jitter,
                      fmt::format("ranks take turns being late: waiting for the last one costs {} of a {} step ({})",
                                  format_time(jitter), format_time(evidence.step), percent(jitter / evidence.step)),
                      "bind ranks (mpirun --bind-to core) and look for other load on their nodes");
  }
  evidence.skew -= std::min(evidence.skew, excess);
  evidence.exposed -= std::min(evidence.exposed, std::max(0.0, excess - evidence.account(Account::exposed_skew)));
  const std::string host = slow < evidence.run.machine.hosts.size() ? evidence.run.machine.hosts[slow] : "its node";
  return make_limit(
      evidence, Cause::slow_rank, excess,
      fmt::format("rank {} on {} is slow: it computes {} a step, the others {} and wait for it "
                  "({} of rounds it was the slowest)",
                  slow, host, format_time(own), format_time(others), percent(evidence.slowest_often)),
      fmt::format("look at {}: other load, clock frequency, memory placement; or leave rank {} out", host, slow));
}

/// Bytes that the busiest rank sends in a step; the library's own messages are unknown: the optimum stands for them.
double wire_bytes(const result::Point& point) {
  if (point.wire_bytes_per_step > 0) return point.wire_bytes_per_step;
  const double ranks = std::max(point.ranks, 1);
  return 2 * (ranks - 1) / ranks * static_cast<double>(point.gradient_bytes);
}

double ideal_bytes_s(const Evidence& evidence) {
  const double link = evidence.run.ceilings.link_gb_per_s * 1e9;
  return link > 0 ? wire_bytes(evidence.point) / link : 0;
}

double ideal_messages_s(const Evidence& evidence) {
  const double ranks = std::max(evidence.point.ranks, 1);
  const double messages = evidence.point.messages_per_step > 0
                              ? static_cast<double>(evidence.point.messages_per_step)
                              : 2 * std::ceil(std::log2(ranks)) * std::max(evidence.point.buckets, 1);
  return messages * evidence.run.ceilings.pingpong_us * 1e-6;
}

std::string format_bytes(double bytes) {
  if (bytes >= 1e6) return fmt::format("{:.1f} MB", bytes * 1e-6);
  return bytes >= 1e3 ? fmt::format("{:.1f} kB", bytes * 1e-3) : fmt::format("{:.0f} B", bytes);
}

// Small buckets pay for each message, not for bytes.
Limit tiny_buckets_limit(Evidence& evidence) {
  const result::Point& point = evidence.point;
  const double buckets = std::max(point.buckets, 1);
  const double bucket_bytes = static_cast<double>(point.gradient_bytes) / buckets;
  const double per_bucket = evidence.summary.communication_s / buckets;
  const double bytes_s = ideal_bytes_s(evidence) / buckets;
  const bool by_latency = ideal_messages_s(evidence) >= ideal_bytes_s(evidence);
  const bool by_time = bytes_s < 0.5 * per_bucket;
  const bool tiny = point.buckets >= many_buckets && bucket_bytes <= small_bucket_bytes && (by_latency || by_time);
  const double overhead = per_bucket > 0 ? std::clamp(1 - bytes_s / per_bucket, 0.5, 1.0) : 1.0;
  const double seconds = tiny ? evidence.exposed * overhead : 0;
  evidence.exposed -= seconds;
  const auto larger = std::max<std::int64_t>(1 << 20, point.gradient_bytes / 4);
  const std::int64_t advice =
      std::min<std::int64_t>(std::int64_t{1} << static_cast<int>(std::log2(static_cast<double>(larger))), 16 << 20);
  return make_limit(evidence, Cause::tiny_buckets, seconds,
                    fmt::format("buckets are tiny: {} buckets of {} take {} each, their bytes alone would take {}; "
                                "that costs up to {} of a {} step",
                                point.buckets, format_bytes(bucket_bytes), format_time(per_bucket),
                                format_time(bytes_s), format_time(seconds), format_time(evidence.step)),
                    fmt::format("communication.bucket: {}", format_size(advice)));
}

// Transfers over a link that is itself slow, as a single flow measured it when nothing else ran. What a fast link
// carries slowly is not its fault: that is no_spare_core's and communication's.
Limit slow_link_limit(Evidence& evidence) {
  const double link = evidence.run.ceilings.link_gb_per_s;
  const double waited =
      std::min(evidence.exposed - std::min(evidence.progress, evidence.exposed), evidence.best_exposed);
  const bool slow = link > 0 && link < slow_network_gb_per_s;
  const double seconds = slow ? waited : 0;
  evidence.exposed -= seconds;
  const double bytes = wire_bytes(evidence.point);
  const double busy = std::max(evidence.summary.communication_s, 1e-12);
  return make_limit(
      evidence, Cause::slow_link, seconds,
      fmt::format("the link is slow: one flow does {:.3g} GB/s when nothing else runs, and {} a step move over it at "
                  "{:.3g} GB/s; the step waits {} of {} for it ({})",
                  link, format_bytes(bytes), bytes / busy * 1e-9, format_time(seconds), format_time(evidence.step),
                  percent(seconds / evidence.step)),
      "train.micro_batches: twice as many (half the bytes a sample), or a faster path between the nodes");
}

std::string engine_place(const Evidence& evidence) {
  const auto& units = evidence.run.machine.rank_processing_units;
  const int least = units.empty() ? 0 : *std::min_element(units.begin(), units.end());
  return fmt::format("{} ranks on {} processing units{}", evidence.point.ranks, evidence.run.machine.processing_units,
                     least > 0 ? fmt::format(", {} in a rank's cpuset", least) : "");
}

// Overlap was asked for, but nobody moves messages while the rank computes.
Limit no_spare_core_limit(Evidence& evidence) {
  const bool meant = evidence.point.overlap && (evidence.point.engine == "inline" || evidence.crowded);
  const double could_hide = evidence.account(Account::backward);
  const double jitter = evidence.crowded ? evidence.skew : 0;
  const double seconds = meant ? std::min(evidence.exposed, could_hide) + jitter : jitter;
  evidence.exposed -= meant ? std::min(evidence.exposed, could_hide) : 0;
  return make_limit(evidence, Cause::no_spare_core, seconds,
                    fmt::format("no processing unit is free to move messages while the ranks compute ({}): {} of the "
                                "communication is hidden, {} of a {} step are not",
                                engine_place(evidence), percent(evidence.summary.hidden_share), format_time(seconds),
                                format_time(evidence.step)),
                    "fewer ranks a node, or mpirun --map-by slot:PE=2 --bind-to core: one unit more for each rank");
}

std::string faster_variant(const std::vector<PointSummary>& summaries, const Winner& best) {
  if (!best.faster) return {};
  for (const PointSummary& summary : summaries) {
    if (summary.point == best.point)
      return fmt::format("communication.collective: {} ({})", summary.point->variant, summary.verdict);
  }
  return {};
}

Limit communication_limit(const Evidence& evidence, const std::string& faster) {
  const double seconds = evidence.exposed;
  std::string cure = faster;
  if (cure.empty() && !evidence.point.overlap) cure = "communication.overlap: true";
  if (cure.empty()) cure = "train.micro_batches: twice as many halves it; sweep communication.bucket for a better size";
  return make_limit(
      evidence, Cause::communication, seconds,
      fmt::format("communication is exposed: {} of a {} step ({}) although all ranks were ready; {} a step at "
                  "{:.2f} GB/s (one flow alone: {:.2f})",
                  format_time(seconds), format_time(evidence.step), percent(seconds / evidence.step),
                  format_bytes(wire_bytes(evidence.point)),
                  wire_bytes(evidence.point) * 1e-9 / std::max(evidence.summary.communication_s, 1e-12),
                  evidence.run.ceilings.link_gb_per_s),
      cure);
}

Limit compute_limit(const Evidence& evidence) {
  const double compute = evidence.account(Account::forward) + evidence.account(Account::backward);
  const double share = evidence.summary.flop_share;
  const double win = share > 0 ? compute * std::max(0.0, 1 - share / good_gemm_share) : 0;
  const std::string rate = share > 0 ? fmt::format(" at {} of this machine's GEMM rate", percent(share)) : "";
  const std::string sentence =
      fmt::format("the step computes: forward and backward take {} of {} ({}){}", format_time(compute),
                  format_time(evidence.step), percent(compute / evidence.step), rate);
  const std::string cure = share > 0 && share < good_gemm_share
                               ? "train.batch: larger matrices come nearer to the GEMM rate"
                               : "nothing is wrong: more ranks, or faster processing units";
  return make_limit(evidence, Cause::compute, win, sentence, cure);
}

// Communication costs the same for any batch: a larger one spreads it.
Limit small_batch_limit(const Evidence& evidence) {
  const double communication = evidence.account(Account::exposed_transfer) + evidence.progress;
  const double compute = evidence.account(Account::forward) + evidence.account(Account::backward);
  const bool small = communication > 0.2 * evidence.step && communication > 0.3 * compute;
  const double samples = static_cast<double>(evidence.point.samples_per_step) / std::max(evidence.point.ranks, 1);
  return make_limit(
      evidence, Cause::small_batch, small ? communication / 2 : 0,
      fmt::format("the batch is small: {:.0f} samples a rank compute for {} a step, and {} go on communication "
                  "that would be the same for more",
                  samples, format_time(compute), format_time(communication)),
      "train.micro_batches: 2, or a larger train.batch: the same messages for twice the samples");
}

const PointSummary* judged_point(const std::vector<PointSummary>& summaries, const std::string& workload) {
  for (const char* role : {"baseline", "variant"}) {
    for (const PointSummary& summary : summaries) {
      if (summary.point->workload == workload && summary.point->role == role && summary.rounds > 0) return &summary;
    }
  }
  return nullptr;
}

bool stronger(const Limit& a, const Limit& b) { return a.seconds > b.seconds; }

}  // namespace

const char* name_of(Cause cause) {
  switch (cause) {
    case Cause::data: return "data";
    case Cause::slow_rank: return "slow_rank";
    case Cause::no_spare_core: return "no_spare_core";
    case Cause::tiny_buckets: return "tiny_buckets";
    case Cause::slow_link: return "slow_link";
    case Cause::communication: return "communication";
    case Cause::compute: return "compute";
    case Cause::small_batch: return "small_batch";
  }
  return "?";
}

std::vector<Limit> limits(const result::Run& run, const std::string& workload) {
  const std::vector<PointSummary> summaries = summarize(run);
  const PointSummary* judged = judged_point(summaries, workload);
  if (judged == nullptr || !(judged->step_s.value > 0)) return {};
  Evidence evidence = gather(run, *judged, Samples(run).of(*judged->point));
  const Winner best = winner(summaries, run, workload);
  evidence.best_exposed = best_exposed(summaries, best, evidence);
  std::vector<Limit> losses{data_limit(evidence)};
  if (judged->point->ranks > 1) {
    losses.push_back(slow_rank_limit(evidence));
    losses.push_back(tiny_buckets_limit(evidence));
    losses.push_back(slow_link_limit(evidence));
    losses.push_back(no_spare_core_limit(evidence));
    losses.push_back(communication_limit(evidence, faster_variant(summaries, best)));
  }
  std::erase_if(losses, [](const Limit& limit) { return limit.share < worth_naming; });
  std::stable_sort(losses.begin(), losses.end(), stronger);
  std::vector<Limit> purposes{compute_limit(evidence)};
  const Limit batch = small_batch_limit(evidence);
  if (batch.share >= worth_naming) purposes.push_back(batch);
  std::stable_sort(purposes.begin(), purposes.end(), stronger);
  losses.insert(losses.end(), purposes.begin(), purposes.end());
  return losses;
}

std::string limits_paragraph(const result::Run& run) {
  std::string text;
  for (const std::string& workload : workloads(run)) {
    const std::vector<Limit> causes = limits(run, workload);
    if (causes.empty()) continue;
    if (!text.empty()) text += "\n";
    text += fmt::format("What limits {}:\n", workload.empty() ? "this run" : workload);
    for (std::size_t i = 0; i < causes.size(); ++i) {
      text += fmt::format("  {}. {}.\n     change: {}\n", i + 1, causes[i].sentence, causes[i].cure);
    }
  }
  return text;
}

}  // namespace ringmaster::report
