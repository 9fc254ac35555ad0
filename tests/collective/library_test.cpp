// SPDX-License-Identifier: Apache-2.0
// What can be known of the library rows without MPI: Open MPI's substitutions, names, what a table of everything shows.
// tests/mpi compares the substitutions with what really runs.
#include <gtest/gtest.h>

#include <algorithm>

#include "collective/allreduce.hpp"
#include "collective/libraries/open_mpi_rules.hpp"

namespace ringmaster::collective {
namespace {

std::string ran(const std::string& name, std::int64_t segment, std::int64_t elements, int ranks) {
  return detail::algorithm_that_runs({name, segment}, elements, 4, ranks).name;
}

TEST(OpenMpiRules, ShortVectorsGetAnotherAlgorithm) {
  EXPECT_EQ(ran("ring", 0, 3, 4), "recursive-doubling");
  EXPECT_EQ(ran("ring", 0, 4, 4), "ring");
  EXPECT_EQ(ran("rabenseifner", 0, 3, 7), "basic-linear");
  EXPECT_EQ(ran("rabenseifner", 0, 4, 7), "rabenseifner");
  EXPECT_EQ(ran("recursive-doubling", 0, 1, 7), "recursive-doubling");
}

TEST(OpenMpiRules, ASegmentMustFitIntoEachRanksShare) {
  EXPECT_EQ(ran("segmented-ring", 1024, 4 * 256, 4), "segmented-ring");
  EXPECT_EQ(ran("segmented-ring", 1024, 4 * 256 - 1, 4), "ring");
  EXPECT_EQ(ran("segmented-ring", 1024, 3, 4), "recursive-doubling");
  EXPECT_EQ(ran("segmented-ring", 0, 1'000'000, 4), "ring") << "no segment size is one segment";
  EXPECT_EQ(ran("segmented-ring", 7, 8, 4), "segmented-ring") << "7 bytes are rounded to 2 elements";
  EXPECT_EQ(ran("segmented-ring", 7, 7, 4), "ring");
}

TEST(OpenMpiRules, SayWhyOnlyWhereTheyChangeSomething) {
  EXPECT_TRUE(detail::algorithm_that_runs({"ring", 0}, 100, 4, 4).because.empty());
  EXPECT_EQ(detail::algorithm_that_runs({"ring", 0}, 1, 4, 4).because, "count < ranks");
  EXPECT_EQ(detail::algorithm_that_runs({"ring", 0}, 0, 4, 4).name, "nothing");
}

TEST(EveryAllreduce, HoldsEachChoiceOfEachVariant) {
  std::vector<std::string> labels;
  for (const AllreduceChoice& choice : every_allreduce()) labels.push_back(label(choice));
  for (const char* wanted :
       {"library", "library-nonblocking", "library-algorithm(id=basic-linear)", "library-algorithm(id=rabenseifner)",
        "library-algorithm(id=segmented-ring,segment=64K)", "library-algorithm(id=segmented-ring,segment=1M)",
        "library-han", "ring", "direct(form=two-shot)", "direct(form=one-shot)"}) {
    EXPECT_EQ(std::count(labels.begin(), labels.end(), wanted), 1) << wanted;
  }
}

TEST(Label, NamesWhatWasLeftOutToo) {
  AllreduceChoice choice;
  choice.algorithm = "direct";
  EXPECT_EQ(label(choice), "direct(form=two-shot)");
  choice.algorithm = "library_algorithm";
  EXPECT_EQ(label(choice), "library-algorithm(id=ring)");
}

}  // namespace
}  // namespace ringmaster::collective
