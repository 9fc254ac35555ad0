// SPDX-License-Identifier: Apache-2.0
// Allreduces alone, size by size: what `ringmaster bench` measures. The columns of nccl-tests are timed as nccl-tests
// times them: k calls back to back, the mean of the ranks, no barrier between them. Beside them stand calls one by
// one with a rewritten input, on aligned clocks: transfer (last end - last start) and skew (last start - own start).
// Two copies without communication stand among the variants: the bound.
// Variants take turns in rounds, in random order, so that a verdict is about the variant and not about the minute.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "collective/allreduce.hpp"
#include "result/schema.hpp"

namespace ringmaster::collective {

/// Where the vectors lie: in memory that the ranks of a node share, or in the rank's own.
enum class BenchMemory : std::uint8_t { registered, own };

struct BenchOptions {
  std::vector<std::int64_t> sizes;  // bytes; whole elements
  DataType type = DataType::float32;
  Reduction reduction = Reduction::sum;
  std::vector<AllreduceChoice> variants;
  int iterations = 20;   // k calls a sample
  int warmup = 5;        // calls before the first sample of a size
  int rounds = 15;       // samples a variant and size
  int single_calls = 3;  // a round, for transfer and skew
  BenchMemory memory = BenchMemory::registered;
  bool check = false;  // compare one result of each with exact sums
  std::uint64_t seed = 1;
  Waiting waiting = Waiting::spin;
  std::function<Nanoseconds(Nanoseconds)> to_common;  // this rank's clock -> the common one
  double clock_residual_s = 0;                        // transfer and skew are left out where this is over 5 % of them
  /// After each size, on every rank.
  std::function<void(int done, int total, const std::string& what)> progress;
};

/// More sizes than anybody would wait for.
inline constexpr std::size_t most_bench_sizes = 10'000;

/// Sizes from begin to end: by factor, or by step where step > 0. Rounded down to whole elements; no size twice. Ends
/// with one size more than most_bench_sizes: that many are never made.
std::vector<std::int64_t> bench_sizes(std::int64_t begin, std::int64_t end, std::int64_t step, std::int64_t factor,
                                      DataType type);

/// Collective over `group`. `keep` receives each row as soon as it is measured (complete on rank 0).
void bench(transport::ProcessGroup& group, const BenchOptions& options,
           const std::function<void(const result::BenchRow&)>& keep);

}  // namespace ringmaster::collective
