// SPDX-License-Identifier: Apache-2.0
#include "collective/bench.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "base/activity.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "base/statistics.hpp"
#include "base/text.hpp"
#include "collective/copy_bound.hpp"
#include "collective/exact_data.hpp"
#include "device/device.hpp"

namespace ringmaster::collective {
namespace {

constexpr double us_per_ns = 1e-3;
constexpr double tolerable_residual = 0.05;

enum Side : std::size_t { out_of_place = 0, in_place = 1 };
constexpr std::array sides{out_of_place, in_place};

/// A variant at one size: its two operations and what was measured.
struct Candidate {
  const char* name = "";  // lasting
  std::array<std::unique_ptr<Operation>, 2> operations;
  result::BenchRow row;
  result::BenchRow::Side& side(Side s) { return s == in_place ? row.in_place : row.out_of_place; }
};

/// Input and output of the largest size. Where ranks can share memory they do, for the library's rows too: all variants
/// work on the same pages.
class BenchVectors {
 public:
  BenchVectors(transport::ProcessGroup& group, std::int64_t bytes, BenchMemory wished)
      : bytes_(static_cast<std::size_t>((bytes + page_bytes - 1) / page_bytes * page_bytes)) {
    const auto both = static_cast<std::int64_t>(2 * bytes_);
    const bool together = group.node_count() == 1 || group.node_count() < group.size();
    if (wished == BenchMemory::registered && together) {
      shared_ = group.share(both);
    } else {
      own_ = device::Buffer(both);
    }
  }
  const transport::NodeMemory* memory() const { return shared_.mine().empty() ? nullptr : &shared_; }
  std::span<std::byte> input() const { return whole().first(bytes_); }
  std::span<std::byte> output() const { return whole().last(bytes_); }

 private:
  static constexpr std::int64_t page_bytes = 4096;
  std::span<std::byte> whole() const { return own_.size() > 0 ? own_.bytes() : shared_.mine(); }
  std::size_t bytes_;
  transport::NodeMemory shared_;
  device::Buffer own_;
};

class SizeBench {
 public:
  SizeBench(transport::ProcessGroup& group, const BenchOptions& options, std::int64_t bytes, BenchVectors& vectors)
      : group_(group),
        options_(options),
        bytes_(bytes),
        memory_(vectors.memory()),
        input_(vectors.input().first(static_cast<std::size_t>(bytes))),
        output_(vectors.output().first(static_cast<std::size_t>(bytes))) {}

  void add(Allreduce& allreduce, result::BenchRow row);
  /// Copies with these stores.
  void add_bound(const char* name, kernels::Stores stores);
  void measure();
  std::vector<Candidate>& candidates() { return candidates_; }

 private:
  void rewrite(Side side);
  void check(Candidate& candidate, Side side);
  void time_calls(Candidate& candidate, Side side, int warmup);
  void time_single_calls(Candidate& candidate, Side side);

  transport::ProcessGroup& group_;
  const BenchOptions& options_;
  std::int64_t bytes_;
  const transport::NodeMemory* memory_;
  std::span<std::byte> input_;
  std::span<std::byte> output_;
  std::vector<Candidate> candidates_;
};

void SizeBench::add(Allreduce& allreduce, result::BenchRow row) {
  Candidate candidate;
  candidate.name = lasting(allreduce.choice().algorithm);
  candidate.operations = {allreduce.prepare({input_, output_, options_.type, memory_, options_.reduction}),
                          allreduce.prepare({output_, output_, options_.type, memory_, options_.reduction})};
  candidate.row = std::move(row);
  candidates_.push_back(std::move(candidate));
}

void SizeBench::add_bound(const char* name, kernels::Stores stores) {
  Candidate candidate;
  candidate.name = name;
  candidate.operations = {make_copy({input_, output_, options_.type, memory_}, stores),
                          make_copy({output_, output_, options_.type, memory_}, stores)};
  candidate.row.variant = name;
  candidate.row.role = "bound";
  candidate.row.what_runs = "every rank copies its vector once, at the same time";
  candidate.row.bytes = bytes_;
  candidate.row.count = bytes_ / size_of(options_.type);
  candidate.row.type = name_of(options_.type);
  candidate.row.reduction = "copy";
  candidates_.push_back(std::move(candidate));
}

// The owner writes its vector before a call, as a training step does: otherwise shards wait in the reducer's cache.
void SizeBench::rewrite(Side side) {
  const std::span<std::byte> target = side == in_place ? output_ : input_;
  fill_exact(target, options_.type, group_.rank());
}

void SizeBench::check(Candidate& candidate, Side side) {
  std::memset(output_.data(), 0xFF, output_.size());
  rewrite(side);
  run(*candidate.operations[side], options_.waiting);
  const std::int64_t wrong = count_wrong(output_, options_.type, options_.reduction, group_.size());
  candidate.side(side).wrong = 0;
  for (const std::int64_t w : transport::gather_values(group_, wrong)) candidate.side(side).wrong += w;
}

void SizeBench::time_calls(Candidate& candidate, Side side, int warmup) {
  Operation& operation = *candidate.operations[side];
  // In place, sums of sums would grow without bound: zeros stay what they are.
  if (side == in_place) std::memset(output_.data(), 0, output_.size());
  for (int i = 0; i < warmup; ++i) run(operation, options_.waiting);
  group_.barrier();
  const Nanoseconds begin = now_ns();
  for (int i = 0; i < options_.iterations; ++i) run(operation, options_.waiting);
  const double own_us = static_cast<double>(now_ns() - begin) * us_per_ns / options_.iterations;
  candidate.side(side).samples_us.push_back(mean(transport::gather_values(group_, own_us)));
}

void SizeBench::time_single_calls(Candidate& candidate, Side side) {
  struct Call {
    Nanoseconds begin, end;
  };
  std::vector<Call> calls;
  for (int i = 0; i < options_.single_calls; ++i) {
    rewrite(side);
    group_.barrier();
    const Nanoseconds begin = now_ns();
    run(*candidate.operations[side], options_.waiting);
    calls.push_back({options_.to_common(begin), options_.to_common(now_ns())});
  }
  const auto all = transport::gather_vectors(group_, std::span<const Call>(calls));
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Nanoseconds last_begin = all.front()[i].begin;
    Nanoseconds last_end = all.front()[i].end;
    double begins = 0;
    for (const auto& rank : all) {
      last_begin = std::max(last_begin, rank[i].begin);
      last_end = std::max(last_end, rank[i].end);
    }
    for (const auto& rank : all) begins += static_cast<double>(last_begin - rank[i].begin);
    const double transfer_us = static_cast<double>(last_end - last_begin) * us_per_ns;
    if (options_.clock_residual_s * 1e6 > tolerable_residual * transfer_us) continue;
    candidate.side(side).transfer_us.push_back(transfer_us);
    candidate.side(side).skew_us.push_back(begins / static_cast<double>(all.size()) * us_per_ns);
  }
}

/// Nothing of the last one's rounds stays in the words of an interrupted job.
void name_activity(const Candidate& candidate) {
  activity().enter("bench");
  activity().operation.store(candidate.name, std::memory_order_relaxed);
}

void SizeBench::measure() {
  for (Candidate& candidate : candidates_) {
    name_activity(candidate);
    for (const Side side : sides) {
      if (options_.check && candidate.row.role != "bound") check(candidate, side);
    }
  }
  const auto turns = static_cast<std::int64_t>(candidates_.size() * sides.size());
  for (int round = 0; round < options_.rounds; ++round) {
    const auto label =
        mix(options_.seed, static_cast<std::uint64_t>(bytes_) * 1000 + static_cast<std::uint64_t>(round));
    for (const std::int64_t turn : Random(label).permutation(turns)) {
      Candidate& candidate = candidates_[static_cast<std::size_t>(turn) / sides.size()];
      const Side side = sides[static_cast<std::size_t>(turn) % sides.size()];
      name_activity(candidate);
      time_calls(candidate, side, round == 0 ? options_.warmup : std::min(options_.warmup, 1));
      time_single_calls(candidate, side);
    }
  }
}

/// The variants that can run, those that are the same schedule once, and a row for each that cannot.
struct Field {
  std::vector<std::unique_ptr<Allreduce>> allreduces;
  std::vector<result::BenchRow> rows;
  std::vector<result::BenchRow> skipped;
};

std::string role_of(const AllreduceChoice& choice) {
  const VariantInfo variant = require_variant(choice.algorithm);
  if (variant.is_baseline) return "baseline";
  return variant.is_library ? "library" : "variant";
}

Field line_up(transport::ProcessGroup& group, const BenchOptions& options) {
  Field field;
  std::map<std::string, std::size_t> seen;
  for (const AllreduceChoice& choice : options.variants) {
    result::BenchRow row;
    row.variant = label(choice);
    row.role = role_of(choice);
    row.type = name_of(options.type);
    row.reduction = name_of(options.reduction);
    if (const Verdict verdict = supports(choice, group); !verdict) {
      row.skipped = verdict.reason;
      field.skipped.push_back(std::move(row));
      continue;
    }
    auto allreduce = std::make_unique<Allreduce>(group, choice);
    const auto [at, fresh] = seen.try_emplace(allreduce->identity(), field.rows.size());
    if (!fresh) {
      field.rows[at->second].same_as.push_back(row.variant);
      continue;
    }
    field.allreduces.push_back(std::move(allreduce));
    field.rows.push_back(std::move(row));
  }
  return field;
}

}  // namespace

std::vector<std::int64_t> bench_sizes(std::int64_t begin, std::int64_t end, std::int64_t step, std::int64_t factor,
                                      DataType type) {
  RINGMASTER_ASSERT(begin >= 0 && end >= begin && (step > 0 || factor > 1), "sizes that never end");
  std::vector<std::int64_t> sizes;
  const std::int64_t unit = size_of(type);
  for (std::int64_t size = begin; size <= end && sizes.size() <= most_bench_sizes;) {
    const std::int64_t whole = std::max(unit, size / unit * unit);
    if (sizes.empty() || sizes.back() != whole) sizes.push_back(whole);
    const std::int64_t next = step > 0 ? size + step : std::max<std::int64_t>(size, 1) * factor;
    if (next <= size) break;
    size = next;
  }
  return sizes;
}

void bench(transport::ProcessGroup& group, const BenchOptions& options,
           const std::function<void(const result::BenchRow&)>& keep) {
  activity().enter("bench");
  Field field = line_up(group, options);
  for (const result::BenchRow& row : field.skipped) keep(row);
  const std::int64_t most = options.sizes.empty() ? 0 : *std::max_element(options.sizes.begin(), options.sizes.end());
  BenchVectors vectors(group, most, options.memory);
  for (std::size_t i = 0; i < options.sizes.size(); ++i) {
    const std::int64_t bytes = options.sizes[i];
    SizeBench size(group, options, bytes, vectors);
    for (std::size_t v = 0; v < field.rows.size(); ++v) {
      result::BenchRow row = field.rows[v];
      row.bytes = bytes;
      row.count = bytes / size_of(options.type);
      row.what_runs = field.allreduces[v]->what_runs(bytes, options.type);
      size.add(*field.allreduces[v], std::move(row));
    }
    size.add_bound("copy(stores=ordinary)", kernels::Stores::ordinary);
    size.add_bound("copy(stores=streaming)", kernels::Stores::streaming);
    size.measure();
    for (const Candidate& candidate : size.candidates()) keep(candidate.row);
    if (options.progress)
      options.progress(static_cast<int>(i) + 1, static_cast<int>(options.sizes.size()), format_size(bytes));
  }
  activity().enter("after bench");
}

}  // namespace ringmaster::collective
