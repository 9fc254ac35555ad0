// SPDX-License-Identifier: Apache-2.0
// Training over MPI: ranks stay the same bytes whatever moves the gradients, and agree with one rank.
#include "parallel/data_parallel.hpp"

#include <gtest/gtest.h>

#include "../parallel/training.hpp"
#include "mpi_world.hpp"

namespace ringmaster::test {
namespace {

std::vector<float> train(transport::ProcessGroup& group, const parallel::DataParallelOptions& options) {
  Rank rank(group, options);
  rank.steps(20);
  const auto hashes = transport::gather_values(group, rank.trainer->parameter_hash());
  for (const std::uint64_t hash : hashes) EXPECT_EQ(hash, hashes.front()) << options.allreduce.algorithm;
  const auto buckets = transport::gather_vectors(group, std::span<const std::uint64_t>(rank.trainer->bucket_hashes()));
  for (const auto& mine : buckets) EXPECT_EQ(mine, buckets.front()) << options.allreduce.algorithm;
  return rank.parameters();
}

TEST(MpiDataParallel, EqualsOneRankWithAllSamplesWhateverMovesTheGradients) {
  parallel::DataParallelOptions options = small_options();
  const auto self = world().split(world().rank(), 0);
  options.batch *= world().size();
  const std::vector<float> alone = train(*self, options);
  options.batch /= world().size();
  for (const collective::VariantInfo& variant : collective::allreduce_variants()) {
    options.allreduce = {};
    options.allreduce.algorithm = variant.name;
    if (!collective::supports(options.allreduce, world())) continue;
    EXPECT_LT(distance(alone, train(world(), options)), 1e-5) << variant.name;
  }
}

TEST(MpiDataParallel, OverlapChangesNoBit) {
  parallel::DataParallelOptions options = small_options();
  const std::vector<float> overlapped = train(world(), options);
  options.overlap = false;
  EXPECT_EQ(train(world(), options), overlapped);
}

}  // namespace
}  // namespace ringmaster::test
