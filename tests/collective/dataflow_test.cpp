// SPDX-License-Identifier: Apache-2.0
// What the compiler for shared memory makes of schedules. That the numbers are right is executor_test's business.
#include "collective/dataflow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "schedule/builders.hpp"

namespace ringmaster::collective {
namespace {

using schedule::Rank;

Dataflow compiled(const std::string& name, int ranks, Rank rank, std::int64_t elements, Aliasing aliasing,
                  Vectors vectors, const Parameters& parameters = {}) {
  const schedule::Schedule schedule = schedule::build(name, {ranks, {}, parameters});
  return compile_dataflow(schedule, 0, rank, elements, DataType::float32, aliasing, vectors);
}

Parameters one_shot() {
  Parameters parameters;
  parameters.set("form", std::string("one-shot"));
  return parameters;
}

TEST(Dataflow, TwoShotIsOneSumStoredToAll) {
  for (const Aliasing aliasing : {Aliasing::in_place, Aliasing::out_of_place}) {
    for (const int ranks : {2, 3, 8}) {
      const Dataflow flow = compiled("direct", ranks, 1, 64 * ranks, aliasing, Vectors::shared);
      ASSERT_EQ(flow.steps.size(), 1U);
      EXPECT_EQ(flow.steps[0].elements, 64);
      EXPECT_EQ(flow.steps[0].source_count, ranks);
      EXPECT_EQ(flow.steps[0].destination_count, ranks);
      EXPECT_EQ(flow.scratch_elements, 0);
      EXPECT_EQ(flow.waits.size(), static_cast<std::size_t>(ranks - 1)) << "until the others have begun";
      EXPECT_EQ(flow.at_end.size(), static_cast<std::size_t>(ranks - 1)) << "until the others have stored";
    }
  }
}

TEST(Dataflow, SumsInTheOrderOfRanks) {
  const Dataflow flow = compiled("direct", 5, 3, 640, Aliasing::in_place, Vectors::shared);
  for (Rank rank = 0; rank < 5; ++rank) EXPECT_EQ(flow.sources[static_cast<std::size_t>(rank)].rank, rank);
}

TEST(Dataflow, WhatOthersStillReadIsNotOverwritten) {
  // In place, each reads the whole vectors of all in the round in which it writes its own: the sum waits in scratch.
  const Dataflow flow = compiled("direct", 3, 0, 96, Aliasing::in_place, Vectors::shared, one_shot());
  ASSERT_EQ(flow.steps.size(), 2U);
  EXPECT_EQ(flow.destinations[0].home, Home::scratch);
  EXPECT_EQ(flow.destinations[1].home, Home::output);
  const DataflowStep& moving = flow.steps[1];
  std::set<Rank> waited;
  for (std::int32_t i = 0; i < moving.wait_count; ++i) {
    const Wait& wait = flow.waits[static_cast<std::size_t>(moving.first_wait + i)];
    EXPECT_EQ(wait.steps, 1);
    waited.insert(wait.rank);
  }
  EXPECT_EQ(waited, (std::set<Rank>{1, 2}));
}

TEST(Dataflow, OwnVectorsAreTouchedByTheirOwnerOnly) {
  for (const char* name : {"ring", "recursive-doubling", "rabenseifner", "tree", "direct"}) {
    for (const Aliasing aliasing : {Aliasing::in_place, Aliasing::out_of_place}) {
      for (Rank rank = 0; rank < 6; ++rank) {
        const Dataflow flow = compiled(name, 6, rank, 1000, aliasing, Vectors::own);
        for (const auto* places : {&flow.sources, &flow.destinations}) {
          for (const Location& at : *places) {
            EXPECT_TRUE(at.rank == rank || at.home == Home::scratch) << name;
          }
        }
        for (const Location& at : flow.destinations) EXPECT_EQ(at.rank, rank) << name << " stores to another rank";
      }
    }
  }
}

TEST(Dataflow, AllRanksCountTheSameSteps) {
  for (const char* name : {"ring", "recursive-doubling", "rabenseifner", "tree", "direct"}) {
    for (const Vectors vectors : {Vectors::shared, Vectors::own}) {
      std::vector<std::int64_t> steps;
      std::vector<Dataflow> flows;
      for (Rank rank = 0; rank < 7; ++rank) {
        flows.push_back(compiled(name, 7, rank, 777, Aliasing::in_place, vectors));
        steps.push_back(static_cast<std::int64_t>(flows.back().steps.size()));
      }
      for (const Dataflow& flow : flows) {
        EXPECT_EQ(flow.steps_of, steps) << name;
        EXPECT_EQ(flow.scratch_elements, flows.front().scratch_elements) << name;
        for (const auto* waits : {&flow.waits, &flow.at_end, &flow.at_end_of_turn}) {
          for (const Wait& wait : *waits) EXPECT_LE(wait.steps, steps[static_cast<std::size_t>(wait.rank)]) << name;
        }
      }
    }
  }
}

TEST(Dataflow, ManyElementsAreAddressedIn64Bits) {
  const std::int64_t elements = std::int64_t{5} << 32;
  const Dataflow flow = compiled("direct", 4, 3, elements, Aliasing::in_place, Vectors::shared);
  EXPECT_EQ(flow.sources[0].begin, elements / 4 * 3);
  EXPECT_EQ(flow.steps[0].elements, elements / 4);
}

}  // namespace
}  // namespace ringmaster::collective
