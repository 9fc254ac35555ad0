// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>

#include "../schedule/choices.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "cases.hpp"
#include "collective/executor.hpp"
#include "collective/plan.hpp"
#include "schedule/builders.hpp"
#include "transport/threads.hpp"

namespace ringmaster::collective {
namespace {

using test::Placement;
using transport::ProcessGroup;
using transport::run_as_threads;

using ParameterChoices = std::vector<Parameters> (*)(std::span<const ParameterSpec>);

/// Every schedule that takes so many ranks, with those parameters, over messages and over shared memory.
std::vector<AllreduceChoice> schedule_choices(int ranks, ParameterChoices parameters = test::text_choices) {
  std::vector<AllreduceChoice> choices;
  for (const VariantInfo& variant : allreduce_variants()) {
    if (variant.is_library) continue;
    for (const Parameters& chosen : parameters(variant.parameters)) {
      AllreduceChoice choice;
      choice.algorithm = variant.name;
      choice.parameters = chosen;
      if (supports(choice, ranks)) choices.push_back(choice);
    }
  }
  const std::size_t schedules = choices.size();
  for (std::size_t i = 0; i < schedules; ++i) {
    choices.push_back(choices[i]);
    choices.back().transport = Transport::shared_memory;
  }
  return choices;
}

class EveryScheduleOnThreads : public testing::TestWithParam<int> {};

TEST_P(EveryScheduleOnThreads, AddsRealNumbers) {
  const int ranks = GetParam();
  const auto p = static_cast<std::size_t>(ranks);
  run_as_threads(ranks, [&](ProcessGroup& group) {
    for (AllreduceChoice choice : schedule_choices(ranks)) {
      // For shared memory every rank compiles the programs of all ranks: a sample where they are many.
      const bool sampled = choice.transport == Transport::shared_memory && ranks > 8;
      std::vector<std::size_t> counts{0, 1, 2, p - 1, p, p + 1, 1000};
      if (sampled) counts = {1000};
      for (const std::int64_t segment : {0, 256}) {
        choice.segment_bytes = segment;
        if (sampled && (segment == 0) == (ranks % 2 == 0)) continue;
        for (const std::size_t count : counts) {
          test::reduce_and_check<float>(group, choice, count, Placement::in_place);
          test::reduce_and_check<double>(group, choice, count, Placement::out_of_place);
        }
      }
    }
  });
}

TEST_P(EveryScheduleOnThreads, LeavesTheSameBitsOnEveryRank) {
  std::vector<int> shuffled;
  for (const std::int64_t rank : Random(3).permutation(GetParam())) shuffled.push_back(static_cast<int>(rank));
  run_as_threads(GetParam(), [&](ProcessGroup& group) {
    for (AllreduceChoice choice : schedule_choices(group.size())) {
      test::expect_same_bits(group, choice);
      choice.rank_order = shuffled;
      test::expect_same_bits(group, choice);
    }
  });
}

TEST_P(EveryScheduleOnThreads, AddsRealNumbersWithOtherIntegerParameters) {
  run_as_threads(GetParam(), [](ProcessGroup& group) {
    const Placement placement = group.size() % 2 == 0 ? Placement::in_place : Placement::out_of_place;
    for (const AllreduceChoice& choice : schedule_choices(group.size(), test::integer_choices)) {
      if (choice.transport == Transport::shared_memory && group.size() > 8) continue;
      test::reduce_and_check<float>(group, choice, 1000, placement);
    }
  });
}
INSTANTIATE_TEST_SUITE_P(Ranks, EveryScheduleOnThreads, testing::Range(1, 18));

/// Every type with every reduction: each schedule meets one pair of them a count, all pairs in turns; all of it where
/// RINGMASTER_TEST_ALL is set.
class EveryTypeOnThreads : public testing::TestWithParam<int> {};

TEST_P(EveryTypeOnThreads, CombinesExactly) {
  const int ranks = GetParam();
  const auto p = static_cast<std::size_t>(ranks);
  const bool whole = std::getenv("RINGMASTER_TEST_ALL") != nullptr;
  run_as_threads(ranks, [&](ProcessGroup& group) {
    std::size_t turn = 0;
    for (const AllreduceChoice& choice : schedule_choices(ranks)) {
      for (const std::size_t count :
           {std::size_t{0}, std::size_t{1}, p - 1, p, p + 1, std::size_t{1000}, std::size_t{65'537}}) {
        for (std::size_t pair = 0; pair < data_types.size() * reductions.size(); ++pair) {
          if (!whole && (pair + turn) % 11 != 0) continue;
          const Placement placement = pair % 3 == 0 ? Placement::in_place : Placement::out_of_place;
          test::combine_and_check(group, choice, count, data_types[pair % data_types.size()],
                                  reductions[pair / data_types.size()], placement);
        }
        ++turn;
      }
    }
  });
}
INSTANTIATE_TEST_SUITE_P(Ranks, EveryTypeOnThreads, testing::Values(1, 2, 3, 4, 5, 7, 8));

TEST(AverageOnThreads, IsTheSameBitsOnEveryRankWhereItCannotBeExact) {
  for (const int ranks : {3, 5, 7}) {
    run_as_threads(ranks, [](ProcessGroup& group) {
      for (const AllreduceChoice& choice : schedule_choices(group.size())) {
        std::vector<float> values(1013);
        for (std::size_t i = 0; i < values.size(); ++i) {
          values[i] = 1.0F / static_cast<float>(3 + i + 17 * static_cast<std::size_t>(group.rank()));
        }
        const auto all_before = group.all_gather(std::as_bytes(std::span(values)));
        const auto bytes = std::as_writable_bytes(std::span(values));
        Allreduce allreduce(group, choice);
        run(*allreduce.prepare({bytes, bytes, DataType::float32, nullptr, Reduction::average}), Waiting::yield);
        for (const auto& other : group.all_gather(bytes)) {
          ASSERT_EQ(std::memcmp(other.data(), bytes.data(), bytes.size()), 0) << label(choice);
        }
        for (std::size_t i = 0; i < values.size(); ++i) {
          double sum = 0;
          for (const auto& before : all_before) sum += reinterpret_cast<const float*>(before.data())[i];
          ASSERT_NEAR(values[i], sum / group.size(), 1e-6 * sum) << label(choice);
        }
      }
    });
  }
}

TEST(ExecutorOnThreads, LongVectorsInManySegments) {
  run_as_threads(3, [](ProcessGroup& group) {
    for (AllreduceChoice choice : schedule_choices(group.size())) {
      choice.segment_bytes = 64 << 10;
      test::reduce_and_check<float>(group, choice, 300'001, Placement::in_place);
      test::reduce_and_check<float>(group, choice, 300'001, Placement::out_of_place);
    }
  });
}

class EngineOnThreads : public testing::TestWithParam<EngineMode> {};
TEST_P(EngineOnThreads, RunsSeveralOperationsInFlight) {
  for (const int ranks : {1, 2, 4}) {
    run_as_threads(ranks, [](ProcessGroup& group) {
      for (const char* name : {"ring", "tree"}) {
        AllreduceChoice choice;
        choice.algorithm = name;
        test::through_an_engine(group, choice, GetParam());
      }
    });
  }
}
INSTANTIATE_TEST_SUITE_P(Modes, EngineOnThreads, testing::Values(EngineMode::own_thread, EngineMode::inline_progress));

class FailingOperation final : public Operation {
  void do_start() override {}
  bool do_progress() override { throw std::runtime_error("planted"); }
};

TEST(EngineErrors, ReachTheWaitingLane) {
  for (const EngineMode mode : {EngineMode::own_thread, EngineMode::inline_progress}) {
    EngineOptions options;
    options.mode = mode;
    Engine engine(options);
    FailingOperation operation;
    const std::int64_t ticket = engine.submit(operation, 0, 0, 0);
    EXPECT_THROW(engine.wait(ticket), std::runtime_error);
  }
}

TEST(EngineErrors, ADyingNeighbourEndsTheWaiting) {
  EXPECT_THROW(run_as_threads(3,
                              [](ProcessGroup& group) {
                                if (group.rank() == 2) throw std::runtime_error("planted");
                                test::through_an_engine(group, {}, EngineMode::own_thread);
                              }),
               std::exception);
}

TEST(AllreduceOnThreads, HasNoLibrary) {
  run_as_threads(1, [](ProcessGroup& group) {
    AllreduceChoice choice;
    choice.algorithm = "library";
    EXPECT_THROW(Allreduce(group, choice), UserError);
  });
}

TEST(Variants, AreNamedOnceAndSuggestTheirNames) {
  EXPECT_EQ(require_variant("recursive_doubling").name, "recursive-doubling");
  try {
    require_variant("rign");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'ring'"), std::string::npos);
  }
}

TEST(AllreduceCost, CountsTheBusiestRank) {
  run_as_threads(4, [](ProcessGroup& group) {
    const Allreduce ring(group, {});
    const Allreduce::Cost cost = ring.cost(1 << 20);
    EXPECT_EQ(cost.messages, 6);
    EXPECT_DOUBLE_EQ(cost.wire_bytes, 1.5 * (1 << 20));
  });
}

// Chunk borders are multiples of 64 bytes, and a sum over several chunks of one source is one pass.
TEST(Plan, HasAlignedBordersAndFusedSums) {
  const auto schedule = schedule::build("direct", {5, {}, {}});
  const Plan plan = compile(schedule.lanes.front(), 2, 10'007, DataType::float32, Aliasing::in_place);
  ASSERT_EQ(plan.rounds.size(), 2U);
  EXPECT_EQ(plan.rounds[0].sum_count, 1);
  EXPECT_EQ(plan.sums[0].source_count, 5);
  EXPECT_EQ(plan.sums[0].destination.begin % 16, 0);
  EXPECT_EQ(plan.sums[0].time, SumTime::after_receives);
  const auto doubling = schedule::build("recursive-doubling", {2, {}, {}});
  const auto& lane = doubling.lanes.front();
  EXPECT_EQ(compile(lane, 0, 100, DataType::float32, Aliasing::in_place).sums[0].time, SumTime::after_sends);
  EXPECT_EQ(compile(lane, 0, 100, DataType::float32, Aliasing::out_of_place).sums[0].time, SumTime::after_receives);
}

// A region of several ranges is packed.
TEST(Plan, ScatteredRegionsArePacked) {
  schedule::Schedule schedule;
  schedule.name = "scattered";
  schedule.ranks = 2;
  schedule::Lane lane;
  lane.chunks = 4;
  lane.rounds = 2;
  lane.program = [](schedule::Rank rank) {
    using schedule::Region;
    using schedule::Space;
    using schedule::TransferKind;
    const Region own{Space::input, 0, {{rank, 1}, {rank + 2, 1}}};
    const Region other{Space::input, 0, {{1 - rank, 1}, {3 - rank, 1}}};
    Region own_out = own;
    Region other_out = other;
    own_out.space = other_out.space = Space::output;
    schedule::Program program(2);
    program[0].transfers = {{TransferKind::send, 1 - rank, other, {}},
                            {TransferKind::receive_reduce, 1 - rank, own, own_out}};
    program[1].transfers = {{TransferKind::send, 1 - rank, own_out, {}},
                            {TransferKind::receive, 1 - rank, {}, other_out}};
    return program;
  };
  schedule.lanes = {lane};
  run_as_threads(2, [&](ProcessGroup& group) {
    for (const Placement placement : {Placement::in_place, Placement::out_of_place}) {
      test::Vectors<float> vectors(1000, placement);
      const auto operation = make_schedule_operation(group, schedule, vectors.buffers(), {});
      for (int salt = 0; salt < 3; ++salt) {
        vectors.fill(group.rank(), salt);
        run(*operation, Waiting::yield);
        vectors.check(2, salt, "scattered");
      }
    }
  });
}

// The receive of a round is posted before its sends are packed: it may not land in what is still to be packed.
TEST(Plan, NothingArrivesWhereASendIsStillToBePacked) {
  schedule::Lane lane;
  lane.chunks = 4;
  lane.rounds = 1;
  lane.program = [](schedule::Rank rank) {
    using schedule::Space;
    using schedule::TransferKind;
    schedule::Program program(1);
    program[0].transfers = {{TransferKind::send, 1 - rank, {Space::output, 0, {{0, 1}, {2, 1}}}, {}},
                            {TransferKind::receive, 1 - rank, {}, {Space::output, 0, {{0, 2}}}}};
    return program;
  };
  const Plan plan = compile(lane, 0, 1000, DataType::float32, Aliasing::out_of_place);
  EXPECT_EQ(plan.receives.at(0).piece.place, Place::bounce);
}

}  // namespace
}  // namespace ringmaster::collective
