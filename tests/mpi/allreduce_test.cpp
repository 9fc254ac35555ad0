// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "../collective/cases.hpp"
#include "mpi_world.hpp"

namespace ringmaster::test {
namespace {

/// What can run here.
std::vector<AllreduceChoice> every_choice() {
  std::vector<AllreduceChoice> choices = collective::every_allreduce();
  std::erase_if(choices, [](const AllreduceChoice& choice) { return !collective::supports(choice, world()); });
  return choices;
}

TEST(MpiAllreduce, AddsRealNumbers) {
  const auto p = static_cast<std::size_t>(world().size());
  for (AllreduceChoice choice : every_choice()) {
    for (const std::int64_t segment : {0, 4096}) {
      choice.segment_bytes = segment;
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, p - 1, p + 1, std::size_t{65'537}}) {
        reduce_and_check<float>(world(), choice, count, Placement::in_place);
        reduce_and_check<double>(world(), choice, count, Placement::out_of_place);
      }
    }
  }
}

TEST(MpiAllreduce, LeavesTheSameBitsOnEveryRank) {
  for (const AllreduceChoice& choice : every_choice()) expect_same_bits(world(), choice);
}

TEST(MpiAllreduce, RunsThroughBothEngines) {
  for (const AllreduceChoice& choice : every_choice()) {
    for (const auto mode : {collective::EngineMode::own_thread, collective::EngineMode::inline_progress}) {
      through_an_engine(world(), choice, mode);
    }
  }
}

TEST(MpiAllreduce, SaysWhatRuns) {
  AllreduceChoice choice;
  choice.algorithm = "library";
  EXPECT_EQ(Allreduce(world(), choice).what_runs(4096).rfind("MPI_Allreduce (", 0), 0U);
  EXPECT_EQ(Allreduce(world(), {}).what_runs(4096).rfind("ring (ringmaster schedule, point-to-point over mpi", 0), 0U);
}

}  // namespace
}  // namespace ringmaster::test
