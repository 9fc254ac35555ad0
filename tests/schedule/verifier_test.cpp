// SPDX-License-Identifier: Apache-2.0
#include "schedule/verifier.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/registry.hpp"
#include "choices.hpp"
#include "schedule/builders.hpp"
#include "schedule/combinators.hpp"

namespace ringmaster::schedule {
namespace {

/// One parameter other than its default.
template <class Value>
Parameters set(const char* name, Value value) {
  Parameters parameters;
  parameters.set(name, std::move(value));
  return parameters;
}
Parameters set(const char* name, const char* value) { return set(name, std::string(value)); }

std::vector<Rank> shuffled(int ranks) {
  std::vector<Rank> order;
  for (const std::int64_t rank : Random(7).permutation(ranks)) order.push_back(static_cast<Rank>(rank));
  return order;
}

std::vector<int> rank_counts() {
  std::vector<int> counts;
  for (int ranks = 1; ranks <= 64; ++ranks) counts.push_back(ranks);
  counts.insert(counts.end(), {100, 127, 128});
  return counts;
}

Verdict answer(const Builder& builder, const Parameters& parameters, int ranks) {
  return builder.supports(completed(builder, {ranks, {}, parameters}));
}

class EverySchedule : public testing::TestWithParam<const Builder*> {
 protected:
  /// Where the builder says yes.
  static void expect_proved(const BuildContext& context) {
    if (!answer(*GetParam(), context.parameters, context.ranks)) return;
    const Schedule schedule = build(GetParam()->name, context);
    const Proof proof = verify(schedule);
    ASSERT_TRUE(proof.ok()) << schedule.name << " at " << context.ranks << ": " << proof.problems.front();
  }
};

TEST_P(EverySchedule, IsProvedForEveryRankCount) {
  for (const Parameters& parameters : test::text_choices(GetParam()->parameters)) {
    for (const int ranks : rank_counts()) expect_proved({ranks, {}, parameters});
  }
}

TEST_P(EverySchedule, IsProvedForOtherIntegerParameters) {
  for (const Parameters& parameters : test::integer_choices(GetParam()->parameters)) {
    for (int ranks = 1; ranks <= 40; ++ranks) expect_proved({ranks, {}, parameters});
    expect_proved({64, {}, parameters});
  }
}

TEST_P(EverySchedule, IsProvedInAnyRankOrder) {
  std::vector<Parameters> all = test::integer_choices(GetParam()->parameters);
  for (const Parameters& parameters : test::text_choices(GetParam()->parameters)) all.push_back(parameters);
  for (const Parameters& parameters : all) {
    for (const int ranks : {2, 3, 5, 6, 8, 9, 13, 16}) expect_proved({ranks, shuffled(ranks), parameters});
  }
}

// A torus needs rows and columns. Nobody else may refuse a rank count.
TEST_P(EverySchedule, RefusesNoRankCountUnlessItIsATorus) {
  for (const Parameters& parameters : test::text_choices(GetParam()->parameters)) {
    std::vector<int> refused;
    for (const int ranks : rank_counts()) {
      const Verdict verdict = answer(*GetParam(), parameters, ranks);
      EXPECT_EQ(verdict.ok, verdict.reason.empty());
      if (verdict) continue;
      refused.push_back(ranks);
      EXPECT_THROW(build(GetParam()->name, {ranks, {}, parameters}), UserError);
    }
    const std::vector<int> without_factors{1, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 127};
    EXPECT_EQ(refused, std::string(GetParam()->name) == "torus" ? without_factors : std::vector<int>{});
  }
}

TEST_P(EverySchedule, ReceivesWhatIsSent) {
  for (const int ranks : {2, 5, 8, 31}) {
    if (!answer(*GetParam(), {}, ranks)) continue;
    const Counts counts = count(build(GetParam()->name, {ranks, {}, {}}));
    double received = 0;
    for (const double r : counts.received) received += r;
    EXPECT_NEAR(received, counts.total_sent(), 1e-9);
  }
}

std::string name_of_case(const testing::TestParamInfo<const Builder*>& tested) {
  std::string name = tested.param->name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Builders, EverySchedule, testing::ValuesIn(builders().begin(), builders().end()),
                         name_of_case);

TEST(Counts, AgreeWithTheLiterature) {
  for (const int p : {2, 3, 4, 7, 8, 64}) {
    const double optimum = 2.0 * (p - 1) / p;
    const Counts ring = count(build("ring", {p, {}, {}}));
    EXPECT_EQ(ring.rounds, 2 * (p - 1));
    EXPECT_NEAR(ring.busiest_sent(), optimum, 1e-12);
    EXPECT_EQ(ring.messages_sent[0], 2 * (p - 1));
    EXPECT_NEAR(count(build("direct", {p, {}, {}})).busiest_sent(), optimum, 1e-12);
  }
  EXPECT_NEAR(count(build("rabenseifner", {8, {}, {}})).busiest_sent(), 2.0 * 7 / 8, 1e-12);
  EXPECT_EQ(count(build("rabenseifner", {8, {}, {}})).rounds, 6);
  EXPECT_NEAR(count(build("rabenseifner", {5, {}, {}})).busiest_sent(), 1.75, 1e-12);
  EXPECT_NEAR(count(build("recursive-doubling", {8, {}, {}})).busiest_sent(), 3, 1e-12);
  EXPECT_EQ(count(build("tree", {6, {}, {}})).rounds, 6);
}

TEST(CanonicalForm, FindsSchedulesThatAreTheSame) {
  const auto form = [](const char* name, int ranks) { return canonical_form(build(name, {ranks, {}, {}})); };
  EXPECT_EQ(form("ring", 2), form("rabenseifner", 2));
  EXPECT_EQ(form("ring", 2), form("direct", 2));
  EXPECT_NE(form("ring", 2), form("tree", 2));
  EXPECT_NE(form("ring", 4), form("rabenseifner", 4));
  EXPECT_NE(form("ring", 2), form("ring", 3));
  EXPECT_EQ(canonical_form(build("direct", {2, {}, set("form", "one-shot")})), form("recursive-doubling", 2));
}

// What the literature gives two names, and parameters that lead to the same.
TEST(CanonicalForm, FindsTheSameAlgorithmUnderOtherNames) {
  const auto form = [](const char* name, int ranks, const Parameters& parameters) {
    return canonical_form(build(name, {ranks, {}, parameters}));
  };
  for (const int ranks : {2, 3, 4, 6, 7, 8, 12, 16, 31, 64}) {
    EXPECT_EQ(form("bine", ranks, set("form", "butterfly")), form("swing", ranks, {})) << ranks;
    EXPECT_EQ(form("multi-ring", ranks, set("lanes", std::int64_t{1})), form("ring", ranks, {})) << ranks;
    EXPECT_EQ(form("hierarchical", ranks, set("group", std::int64_t{1})), form("ring", ranks, {})) << ranks;
    EXPECT_EQ(form("hierarchical", ranks, set("group", std::int64_t{ranks})), form("direct", ranks, {})) << ranks;
  }
  for (const int ranks : {2, 4, 8, 64}) {
    EXPECT_EQ(form("recursive-multiplying", ranks, set("radix", std::int64_t{2})),
              form("recursive-doubling", ranks, {}));
    EXPECT_EQ(form("recursive-multiplying", ranks, set("radix", std::int64_t{64})),
              form("direct", ranks, set("form", "one-shot")));
  }
  for (const int ranks : {4, 6, 12, 36, 64}) {
    EXPECT_EQ(form("hierarchical", ranks,
                   [&] {
                     Parameters parameters = set("inner", "ring");
                     int rows = 1;
                     for (int f = 2; f * f <= ranks; ++f) rows = ranks % f == 0 ? f : rows;
                     parameters.set("group", std::int64_t{ranks / rows});
                     return parameters;
                   }()),
              form("torus", ranks, {}));
  }
}

// --- What the builders promise beyond the right sum. ---

TEST(Folding, OfHalvesSendsAlmostTheOptimum) {
  for (const char* name : {"rabenseifner", "swing"}) {
    for (const int ranks : rank_counts()) {
      if (ranks == 1) continue;
      const double optimum = 2.0 * (ranks - 1) / ranks;
      EXPECT_LE(count(build(name, {ranks, {}, {}})).busiest_sent(), 1.1251 * optimum) << name << " " << ranks;
    }
  }
}

TEST(Hierarchical, SendsAcrossGroupsNoMoreThanItMust) {
  for (const char* form : {"sharded", "leaders"}) {
    Parameters parameters = set("group", std::int64_t{4});
    parameters.set("form", std::string(form));
    for (const int ranks : {8, 11, 16, 30}) {
      const Counts counts = count(build("hierarchical", {ranks, {}, parameters}));
      const int groups = (ranks + 3) / 4;
      std::vector<double> sent(static_cast<std::size_t>(groups));
      for (int source = 0; source < ranks; ++source) {
        for (int target = 0; target < ranks; ++target) {
          const auto pair = std::pair(static_cast<std::size_t>(source), static_cast<std::size_t>(target));
          if (source / 4 != target / 4) sent[pair.first / 4] += counts.link[pair.first][pair.second];
        }
      }
      for (const double vectors : sent) EXPECT_NEAR(vectors, 2.0 * (groups - 1) / groups, 1e-9) << form << ranks;
    }
  }
}

/// Messages of a lane as (source, destination), without their number.
std::set<std::pair<Rank, Rank>> links_of(const Schedule& schedule, std::size_t lane) {
  std::set<std::pair<Rank, Rank>> links;
  for (Rank rank = 0; rank < schedule.ranks; ++rank) {
    for (const Round& round : schedule.lanes[lane].program(rank)) {
      for (const Transfer& transfer : round.transfers) {
        if (transfer.kind == TransferKind::send) links.emplace(rank, transfer.peer);
      }
    }
  }
  return links;
}

TEST(MultiRing, ShareNoLinkWhileThereAreEnough) {
  for (const int ranks : {3, 4, 5, 6, 7, 8, 9, 12, 16, 17}) {
    const int lanes = std::min(16, (ranks - 1) / 2 * 2);
    const Schedule schedule = build("multi-ring", {ranks, {}, set("lanes", std::int64_t{lanes})});
    std::set<std::pair<Rank, Rank>> all;
    for (std::size_t lane = 0; lane < schedule.lanes.size(); ++lane) all.merge(links_of(schedule, lane));
    EXPECT_EQ(static_cast<int>(all.size()), lanes * ranks) << ranks;
  }
}

TEST(DoubleTree, HasEveryRankAsAnInnerNodeAtMostOnce) {
  for (int ranks = 2; ranks <= 64; ++ranks) {
    const Schedule schedule = build("double-tree", {ranks, {}, {}});
    std::vector<int> inner(static_cast<std::size_t>(ranks));
    for (const Lane& lane : schedule.lanes) {
      EXPECT_LE(lane.rounds, 2 * static_cast<int>(std::bit_width(static_cast<unsigned>(ranks)))) << ranks;
      for (Rank rank = 0; rank < ranks; ++rank) {
        int children = 0;
        for (const Round& round : lane.program(rank)) {
          for (const Transfer& transfer : round.transfers) children += transfer.kind == TransferKind::receive_reduce;
        }
        EXPECT_LE(children, 2);
        inner[static_cast<std::size_t>(rank)] += children > 0;
      }
    }
    for (const int lanes : inner) EXPECT_LE(lanes, 1) << ranks;
    EXPECT_LE(count(schedule).busiest_sent(), 2) << ranks;
  }
}

/// The most ranges of chunks that a message is gathered from.
std::size_t most_ranges(const Schedule& schedule) {
  std::size_t most = 0;
  for (const Lane& lane : schedule.lanes) {
    for (Rank rank = 0; rank < schedule.ranks; ++rank) {
      for (const Round& round : lane.program(rank)) {
        for (const Transfer& transfer : round.transfers) most = std::max(most, transfer.from.ranges.size());
      }
    }
  }
  return most;
}

TEST(Swing, SendsNeighbouringChunksAtPowersOfTwo) {
  for (const int ranks : {2, 4, 8, 16, 32, 64, 128, 6, 12, 24, 48, 7, 13, 17, 65}) {
    EXPECT_EQ(most_ranges(build("swing", {ranks, {}, {}})), 1U) << ranks;
  }
  for (int ranks = 2; ranks <= 32; ++ranks) EXPECT_LE(most_ranges(build("swing", {ranks, {}, {}})), 6U) << ranks;
}

TEST(Swing, TakesShorterWaysOnARingThanHalving) {
  const auto hops = [](const char* name) {
    const Counts counts = count(build(name, {64, {}, {}}));
    double sum = 0;
    for (int a = 0; a < 64; ++a) {
      for (int b = 0; b < 64; ++b) {
        const int way = std::abs(a - b);
        sum += counts.link[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] * std::min(way, 64 - way);
      }
    }
    return sum;
  };
  EXPECT_LT(hops("swing"), 0.5 * hops("rabenseifner"));
}

TEST(Hierarchical, IsProvedForAnyPairOfLevelsInAnyRankOrder) {
  for (const Builder* inner : builders()) {
    for (const Builder* outer : builders()) {
      for (const char* form : {"sharded", "leaders"}) {
        Parameters parameters = set("form", form);
        parameters.set("inner", std::string(inner->name));
        parameters.set("outer", std::string(outer->name));
        for (const int ranks : {6, 7, 16, 30}) {
          if (!answer(*find_entry(builders(), "hierarchical"), parameters, ranks)) continue;
          const Schedule schedule = build("hierarchical", {ranks, shuffled(ranks), parameters});
          const Proof proof = verify(schedule);
          EXPECT_TRUE(proof.ok()) << schedule.name << " at " << ranks << ": " << proof.problems.front();
        }
      }
    }
  }
}

TEST(Hierarchical, SaysWhichLevelRefuses) {
  const auto reason = [](const char* key, const char* name, int ranks) {
    return answer(*find_entry(builders(), "hierarchical"), set(key, name), ranks).reason;
  };
  EXPECT_EQ(reason("inner", "torus", 25), "torus: 5 ranks make no rows and columns of at least 2");
  EXPECT_EQ(reason("outer", "rign", 8), "unknown schedule 'rign' (did you mean 'ring'?)");
  EXPECT_EQ(reason("outer", "torus", 16), "");
}

TEST(Torus, SaysWhyItRefuses) {
  const auto reason = [](std::int64_t rows, int ranks) {
    return answer(*find_entry(builders(), "torus"), set("rows", rows), ranks).reason;
  };
  EXPECT_EQ(reason(0, 7), "7 ranks make no rows and columns of at least 2");
  EXPECT_EQ(reason(5, 12), "12 ranks do not make 5 rows of at least 2");
  EXPECT_EQ(reason(12, 12), "12 ranks do not make 12 rows of at least 2");
  EXPECT_EQ(reason(6, 12), "");
}

TEST(Draw, ShowsEveryRoundAndRank) {
  const std::string drawing = draw(build("ring", {4, {}, {}}));
  EXPECT_NE(drawing.find("round 5"), std::string::npos);
  EXPECT_NE(drawing.find("3 > r1"), std::string::npos);
}

TEST(Build, RefusesWhatDoesNotExist) {
  EXPECT_THROW(build("rign", {4, {}, {}}), UserError);
  EXPECT_THROW(build("ring", {4, {0, 1, 2, 2}, {}}), UserError);
  EXPECT_THROW(build("ring", {0, {}, {}}), UserError);
  EXPECT_EQ(build("recursive_doubling", {4, {}, {}}).name, "recursive-doubling");
}

TEST(ChunkElements, CoverTheVectorOnceWithAlignedBorders) {
  for (const std::int64_t elements : {0, 1, 15, 16, 17, 1000, 65537}) {
    for (const std::int64_t chunks : {1, 2, 3, 7, 64}) {
      std::int64_t at = 0;
      for (std::int64_t i = 0; i < chunks; ++i) {
        const ElementRange range = chunk_elements(elements, chunks, i, 16);
        EXPECT_EQ(range.begin, at);
        EXPECT_TRUE(range.begin % 16 == 0 || range.begin == elements);
        EXPECT_GE(range.size(), 0);
        at = range.end;
      }
      EXPECT_EQ(at, elements);
    }
  }
}

// --- Broken on purpose: each must be found, for its own reason. ---

using Edit = std::function<void(Rank, Program&)>;

Schedule edited(const char* name, int ranks, Edit edit) {
  Schedule schedule = build(name, {ranks, {}, {}});
  Lane& lane = schedule.lanes.front();
  lane.program = [inner = lane.program, edit = std::move(edit)](Rank rank) {
    Program program = inner(rank);
    edit(rank, program);
    return program;
  };
  return schedule;
}

void expect_problem(const Schedule& schedule, const std::string& words) {
  const Proof proof = verify(schedule, 100);
  ASSERT_FALSE(proof.ok()) << "not found: " << words;
  bool found = false;
  for (const std::string& problem : proof.problems) found = found || problem.find(words) != std::string::npos;
  EXPECT_TRUE(found) << words << " is not among: " << proof.problems.front();
}

TEST(PlantedBroken, LostChunk) {
  // The last message of the second shot: rank 1 never gets the chunk of rank 0.
  expect_problem(edited("direct", 4,
                        [](Rank rank, Program& program) {
                          auto& transfers = program[1].transfers;
                          if (rank == 0) transfers.erase(transfers.begin());
                          if (rank == 1) transfers.pop_back();
                        }),
                 "chunk 0 is lost");
}

TEST(PlantedBroken, LostContribution) {
  expect_problem(edited("tree", 4,
                        [](Rank rank, Program& program) {
                          if (rank == 0) program[0].transfers.clear();
                          if (rank == 1) program[0].transfers.clear();
                          if (rank == 0) program[1].transfers[0].from.space = Space::input;
                        }),
                 "lacks rank 1");
}

TEST(PlantedBroken, DoubleAdd) {
  expect_problem(edited("recursive-doubling", 4,
                        [](Rank rank, Program& program) {
                          for (Transfer& t : program[1].transfers) t.peer = rank ^ 1;
                        }),
                 "double add");
}

TEST(PlantedBroken, UnmatchedReceive) {
  expect_problem(edited("ring", 3,
                        [](Rank rank, Program& program) {
                          if (rank == 0) program[1].transfers.erase(program[1].transfers.begin());
                        }),
                 "sends nothing");
}

TEST(PlantedBroken, UnmatchedSend) {
  expect_problem(edited("ring", 3,
                        [](Rank rank, Program& program) {
                          if (rank == 0) program[3].transfers.pop_back();
                        }),
                 "receives nothing");
}

TEST(PlantedBroken, SizesThatDiffer) {
  expect_problem(edited("rabenseifner", 4,
                        [](Rank rank, Program& program) {
                          if (rank == 3) program[0].transfers[0].from.ranges[0].count = 1;
                        }),
                 "receives 2 chunks where rank 3 sends 1");
}

TEST(PlantedBroken, ConflictInARound) {
  expect_problem(edited("direct", 3,
                        [](Rank, Program& program) {
                          auto& transfers = program[1].transfers;
                          transfers.back().to = transfers[transfers.size() - 2].to;
                        }),
                 "conflict: a chunk is written twice");
}

TEST(PlantedBroken, WriteAgainstReduction) {
  expect_problem(edited("direct", 3,
                        [](Rank, Program& program) {
                          Transfer& last = program[0].transfers.back();
                          last.kind = TransferKind::receive;
                          last.from = {};
                        }),
                 "conflict: a chunk is written and added to");
}

TEST(PlantedBroken, DifferentOrderOnOneRank) {
  // Everybody adds ((0+1)+2)+3; rank 3 adds in two rounds and so in another order.
  Parameters one_shot;
  one_shot.set("form", std::string("one-shot"));
  Schedule schedule = build("direct", {4, {}, one_shot});
  Lane& lane = schedule.lanes.front();
  lane.rounds = 2;
  lane.program = [inner = lane.program](Rank rank) {
    Program program = inner(rank);
    program.resize(2);
    for (Transfer& t : program[0].transfers) {
      const bool moved = (t.kind == TransferKind::send && t.peer == 3 && rank == 1) ||
                         (t.kind == TransferKind::receive_reduce && rank == 3 && t.peer == 1);
      if (!moved) continue;
      program[1].transfers.push_back(t);
      if (t.kind == TransferKind::receive_reduce) program[1].transfers.back().from.space = Space::output;
      t.kind = TransferKind::copy;
      t.from = t.to = {Space::output, 0, {}};
    }
    return program;
  };
  expect_problem(schedule, "different order");
}

TEST(PlantedBroken, WrongPlace) {
  expect_problem(edited("ring", 4,
                        [](Rank, Program& program) {
                          for (Transfer& t : program.back().transfers) {
                            if (t.kind == TransferKind::receive) t.to.ranges[0].first = (t.to.ranges[0].first + 1) % 4;
                          }
                        }),
                 "another chunk");
}

TEST(PlantedBroken, ChunkThatDoesNotExist) {
  expect_problem(edited("ring", 4,
                        [](Rank rank, Program& program) {
                          if (rank == 0) program[0].transfers[0].from.ranges[0].first = 4;
                        }),
                 "does not exist");
}

TEST(PlantedBroken, ReadBeforeWritten) {
  expect_problem(edited("ring", 4, [](Rank, Program& program) { program[0].transfers[0].from.space = Space::output; }),
                 "before it has a value");
}

TEST(PlantedBroken, LossyWireWithDifferentResults) {
  // Recursive doubling over a lossy codec: a + D(E(b)) here, D(E(a)) + b there.
  expect_problem(edited("recursive-doubling", 2,
                        [](Rank, Program& program) {
                          for (Transfer& t : program[0].transfers) t.wire = Wire::encoded;
                        }),
                 "different order");
}

TEST(PlantedBroken, SwingFromTheNearestPartnerOn) {
  // From the farthest partner on ranks with the same contributions have the same sum. The other way around they have
  // not.
  Schedule schedule = build("swing", {8, {}, set("form", "latency")});
  Lane& lane = schedule.lanes.front();
  lane.program = [inner = lane.program](Rank rank) {
    Program program = inner(rank);
    std::reverse(program.begin(), program.end());
    for (Round& round : program) {
      const bool first = &round == &program.front();
      for (Transfer& t : round.transfers) t.from.space = first ? Space::input : Space::output;
    }
    return program;
  };
  expect_problem(schedule, "different order");
}

TEST(PlantedBroken, SumsThatARankOrderTurnsRound) {
  // Three groups that add their sums in rank order, while a rank order lays them crosswise.
  Schedule schedule = build("recursive-multiplying", {9, {0, 8, 3, 1, 7, 4, 2, 6, 5}, set("radix", std::int64_t{3})});
  EXPECT_TRUE(verify(schedule).ok());
  schedule.lanes.front().place.clear();
  EXPECT_FALSE(verify(schedule).ok());
}

TEST(PlantedBroken, ForwardOfWhatWasNeverEncoded) {
  expect_problem(edited("ring", 3,
                        [](Rank, Program& program) {
                          for (Transfer& t : program.back().transfers) t.wire = Wire::forwarded;
                        }),
                 "never encoded");
}

// One transfer of a proved schedule changed at random: either it is found, or the schedule is still right by
// computation with real numbers.
TEST(PlantedBroken, RandomSingleChangesAreFound) {
  Random random(99);
  int found = 0;
  constexpr int trials = 300;
  for (int trial = 0; trial < trials; ++trial) {
    const Builder& builder = *builders()[random.below(builders().size())];
    const char* name = builder.name;
    int ranks = 3 + static_cast<int>(random.below(6));
    while (!answer(builder, {}, ranks)) ++ranks;
    const auto victim = static_cast<Rank>(random.below(static_cast<std::uint64_t>(ranks)));
    const std::uint64_t pick = random.next();
    const Schedule schedule = edited(name, ranks, [=](Rank rank, Program& program) {
      if (rank != victim) return;
      std::vector<Transfer*> all;
      for (Round& round : program) {
        for (Transfer& t : round.transfers) {
          if (t.kind != TransferKind::copy) all.push_back(&t);  // a copy has no peer
        }
      }
      Transfer& t = *all[pick % all.size()];
      t.peer = (t.peer + 1 == victim ? t.peer + 2 : t.peer + 1) % ranks;
    });
    if (!verify(schedule).ok()) ++found;
  }
  EXPECT_EQ(found, trials);
}

}  // namespace
}  // namespace ringmaster::schedule
