// SPDX-License-Identifier: Apache-2.0
#include "schedule/combinators.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "base/registry.hpp"
#include "choices.hpp"
#include "schedule/builders.hpp"
#include "schedule/programs.hpp"
#include "schedule/verifier.hpp"

namespace ringmaster::schedule {
namespace {

Lane lane_of(const std::string& name, int ranks) { return merged(build(name, {ranks, {}, {}})); }

bool runs(const Builder& builder, int ranks) { return builder.supports(completed(builder, {ranks, {}, {}})).ok; }

void expect_proved(const Schedule& schedule, const std::string& what) {
  const Proof proof = verify(schedule);
  EXPECT_TRUE(proof.ok()) << what << " at " << schedule.ranks << ": " << proof.problems.front();
}

Schedule as_schedule(int ranks, Lane lane, Collective collective = Collective::allreduce) {
  Schedule schedule = side_by_side("tested", ranks, {std::move(lane)});
  schedule.collective = collective;
  return schedule;
}

Lane lane_of(const Reduction& reduction) {
  return {reduction.chunks, reduction.rounds, 0, 1,
          [programs = reduction.programs](Rank rank) { return programs[static_cast<std::size_t>(rank)]; }};
}

TEST(Merged, LanesAreOneLaneThatAddsTheSame) {
  for (const char* name : {"multi-ring", "bidirectional-ring", "double-tree", "rabenseifner"}) {
    for (const int ranks : {2, 3, 5, 8}) expect_proved(as_schedule(ranks, lane_of(name, ranks)), name);
  }
}

TEST(Merged, KeepsWeightsAndBytes) {
  Schedule lanes = build("ring", {3, {}, {}});
  lanes.lanes.push_back(build("tree", {3, {}, {}}).lanes.front());
  lanes.lanes[0].weight = 2;
  const Schedule whole = as_schedule(3, merged(lanes));
  expect_proved(whole, "ring and tree");
  const Counts expected = count(lanes);
  const Counts counts = count(whole);
  for (std::size_t rank = 0; rank < 3; ++rank) EXPECT_NEAR(counts.sent[rank], expected.sent[rank], 1e-12);
}

TEST(Fold, WorksForAnyCoreOfAtLeastHalf) {
  const auto ring = [](int ranks) { return build("ring", {ranks, {}, {}}).lanes.front(); };
  for (int ranks = 4; ranks <= 12; ++ranks) {
    for (int core = (ranks + 1) / 2; core <= ranks; ++core) {
      for (const HandsOver who : {HandsOver::even, HandsOver::odd}) {
        expect_proved(as_schedule(ranks, fold(ranks, core, ring, who)), "ring folded to " + std::to_string(core));
      }
      expect_proved(side_by_side("halves", ranks, fold_halves(ranks, core, ring)), "halves");
    }
  }
}

TEST(Settle, ReadsTheOutputOnceItHasBeenWritten) {
  Program program(3);
  program[0].transfers = {receive_reduce(1, Space::input, {0, 1})};
  program[1].transfers = {send(1, Space::input, {0, 1}), send(1, Space::input, {1, 1})};
  program[2].transfers = {send(1, Space::input, {0, 3})};
  settle(program);
  EXPECT_EQ(program[0].transfers.size(), 1U);
  EXPECT_EQ(program[0].transfers[0].from.space, Space::input);
  EXPECT_EQ(program[1].transfers[0].from.space, Space::output);
  EXPECT_EQ(program[1].transfers[1].from.space, Space::input);
  ASSERT_EQ(program[1].transfers.size(),
            3U);  // what is not there yet is copied a round before it is sent with the rest
  EXPECT_EQ(program[1].transfers[2].kind, TransferKind::copy);
  EXPECT_EQ(program[1].transfers[2].to.ranges, (std::vector<ChunkRange>{{1, 2}}));
  EXPECT_EQ(program[2].transfers[0].from.space, Space::output);
}

TEST(ThereAndBack, MakesAnAllreduceOfATree) {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    std::vector<Rank> star(static_cast<std::size_t>(ranks), ranks / 2);
    const Lane lane = reduce_along(earliest(star));
    Schedule reduction = as_schedule(ranks, lane, Collective::reduce);
    reduction.root = ranks / 2;
    expect_proved(reduction, "star");
    EXPECT_EQ(lane.rounds, 1);
    expect_proved(as_schedule(ranks, there_and_back(lane)), "star there and back");
  }
}

TEST(Earliest, SendsAsSoonAsTheChildrenHave) {
  //      4            0 and 1 are children of 2, 2 and 3 of 4
  const Tree tree = earliest({2, 2, 4, 4, 4});
  EXPECT_EQ(tree.round, (std::vector<int>{0, 0, 1, 0, 2}));
}

// A reduction to owners, put where the verifier looks for owners: chunk c on rank c mod p.
TEST(Reduction, OfARingAndOfDirectIsTheirReduceScatter) {
  for (const char* name : {"ring", "direct"}) {
    for (const int ranks : {2, 3, 5, 8}) {
      const Reduction reduction = reduction_to_shards(lane_of(name, ranks), ranks);
      std::vector<Rank> natural(static_cast<std::size_t>(ranks));
      std::iota(natural.begin(), natural.end(), 0);
      EXPECT_EQ(reduction.owner, natural);
      const Schedule schedule = as_schedule(ranks, lane_of(reduction), Collective::reduce_scatter);
      expect_proved(schedule, name);
      EXPECT_NEAR(count(schedule).busiest_sent(), (ranks - 1.0) / ranks, 1e-12);
    }
  }
}

TEST(Reduction, OfRecursiveDoublingToTheFirstRankIsABinomialTree) {
  for (const int ranks : {2, 4, 8, 16}) {
    const Reduction reduction = reduction_to_first(lane_of("recursive-doubling", ranks), ranks);
    const Schedule schedule = as_schedule(ranks, lane_of(reduction), Collective::reduce);
    expect_proved(schedule, "to the first");
    EXPECT_NEAR(count(schedule).total_sent(), ranks - 1.0, 1e-12);
  }
}

TEST(Reduction, OfEverySchedulePutsTheVectorOnTheFirstRank) {
  for (const Builder* builder : builders()) {
    for (const int ranks : {2, 3, 4, 6, 7, 8, 12}) {
      if (!runs(*builder, ranks)) continue;
      const Reduction reduction = reduction_to_first(lane_of(builder->name, ranks), ranks);
      expect_proved(as_schedule(ranks, lane_of(reduction), Collective::reduce), builder->name);
      expect_proved(as_schedule(ranks, there_and_back(lane_of(reduction))), builder->name);
    }
  }
}

TEST(Nested, AnyScheduleInsideAndAnyAcross) {
  for (const Builder* inner : builders()) {
    for (const Builder* outer : builders()) {
      for (const auto& [ranks, group] : {std::pair(6, 2), {7, 4}, {10, 4}, {16, 4}, {17, 6}}) {
        const int groups = (ranks + group - 1) / group;
        const int rest = ranks % group;
        if (!runs(*inner, group) || (rest > 1 && !runs(*inner, rest)) || !runs(*outer, groups)) continue;
        for (const auto cut : {reduction_to_shards, reduction_to_first}) {
          const Lane lane = nested(
              ranks, group, [&, cut = cut](int p) { return cut(lane_of(inner->name, p), p); },
              [&](int p) { return lane_of(outer->name, p); });
          expect_proved(as_schedule(ranks, lane), std::string(inner->name) + " in " + outer->name);
        }
      }
    }
  }
}

}  // namespace
}  // namespace ringmaster::schedule
