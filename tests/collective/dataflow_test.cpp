// SPDX-License-Identifier: Apache-2.0
// What the compiler for shared memory makes of schedules. That the numbers are right is executor_test's business.
#include "collective/dataflow.hpp"

#include <gtest/gtest.h>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "schedule/builders.hpp"
#include "schedule/verifier.hpp"

namespace ringmaster::collective {
namespace {

using schedule::Rank;

Dataflow compiled(const std::string& name, int ranks, Rank rank, std::int64_t elements, Aliasing aliasing,
                  Vectors vectors, const Parameters& parameters = {}, const std::vector<int>& nodes = {}) {
  const schedule::Schedule schedule = schedule::build(name, {ranks, {}, parameters});
  return compile_dataflow(schedule, 0, rank, elements, DataType::float32, aliasing, vectors, nodes);
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

/// "sum o0.16=o0.16+s1.0 (1:2) | ...": what a step does, and what it waits for.
std::string text_of(const Dataflow& flow) {
  const auto place = [](const Location& at) {
    return fmt::format("{}{}.{}", "ios"[static_cast<int>(at.home)], at.rank, at.begin);
  };
  const auto slice = [](const auto& all, std::int32_t first, std::int32_t count) {
    return std::span(all).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  };
  std::string text;
  for (const DataflowStep& step : flow.steps) {
    if (step.kind == StepKind::sum) {
      for (const Location& at : slice(flow.destinations, step.first_destination, step.destination_count)) {
        text += place(at) + "=";
      }
      const char* join = "";
      for (const Location& at : slice(flow.sources, step.first_source, step.source_count)) {
        text += std::exchange(join, "+") + place(at);
      }
    } else {
      const DataflowMessage& message = flow.messages[static_cast<std::size_t>(step.message)];
      text +=
          fmt::format("{} {}:{}", std::array{"sum", "send", "receive", "await"}[static_cast<std::size_t>(step.kind)],
                      message.peer, place(message.place));
    }
    text += fmt::format(" x{}", step.elements);
    for (const Wait& wait : slice(flow.waits, step.first_wait, step.wait_count)) {
      text += fmt::format(" after {}:{}", wait.rank, wait.steps);
    }
    text += "\n";
  }
  for (const Wait& wait : flow.at_end) text += fmt::format("end after {}:{}\n", wait.rank, wait.steps);
  return text;
}

const std::vector<int> two_by_two{0, 0, 1, 1};

// By hand: four chunks of 16. Inside, rank 0 adds chunks 0 and 1; across, it hands chunk 1 over and adds chunk 0, at
// once for rank 1 too. Chunk 1 comes back to where it was sent from; chunk 2 comes from rank 1, which stores it here,
// and chunk 3 lies ready with rank 1.
TEST(Dataflow, HierarchicalOnTwoNodesOfTwo) {
  const auto part_of = [](Rank rank) {
    return text_of(compiled("hierarchical", 4, rank, 64, Aliasing::in_place, Vectors::shared, {}, two_by_two));
  };
  EXPECT_EQ(part_of(0),
            "receive 2:s0.0 x16\n"
            "o0.0=o0.0+o1.0 x32 after 1:0\n"
            "send 2:o0.16 x16\n"
            "await 2:s0.0 x16\n"
            "o0.0=o1.0=o0.0+s0.0 x16\n"
            "await 2:o0.16 x16\n"
            "receive 2:o0.16 x16\n"
            "send 2:o0.0 x16\n"
            "await 2:o0.16 x16\n"
            "o0.48=o1.48 x16 after 1:9\n"
            "await 2:o0.0 x16\n"
            "end after 1:10\n");
  EXPECT_EQ(part_of(3),
            "receive 1:s3.0 x16\n"
            "o3.32=o2.32+o3.32 x32 after 2:0\n"
            "send 1:o3.32 x16\n"
            "await 1:s3.0 x16\n"
            "o3.48=o2.48=s3.0+o3.48 x16\n"
            "await 1:o3.32 x16\n"
            "receive 1:o3.32 x16\n"
            "send 1:o3.48 x16\n"
            "await 1:o3.32 x16\n"
            "o3.0=o2.0 x16 after 2:9\n"
            "await 1:o3.48 x16\n"
            "end after 2:10\n");
}

// Others read copies, messages leave from the vector itself.
TEST(Dataflow, HierarchicalOnOwnVectors) {
  EXPECT_EQ(text_of(compiled("hierarchical", 4, 0, 64, Aliasing::out_of_place, Vectors::own, {}, two_by_two)),
            "receive 2:s0.32 x16\n"
            "receive 2:s0.64 x16\n"
            "s0.0=i0.32 x32\n"
            "o0.0=i0.0+s1.0 x32 after 1:3\n"
            "send 2:o0.16 x16\n"
            "await 2:s0.32 x16\n"
            "o0.0=s0.48=o0.0+s0.32 x16\n"
            "send 2:o0.0 x16\n"
            "await 2:s0.64 x16\n"
            "await 2:o0.16 x16\n"
            "o0.16=s0.64 x16\n"
            "o0.32=s1.48 x32 after 1:9\n"
            "await 2:o0.0 x16\n"
            "end after 1:11\n");
}

/// Of all ranks, of one lane.
std::vector<Dataflow> all_parts(const schedule::Schedule& schedule, std::size_t lane, Vectors vectors,
                                const std::vector<int>& nodes) {
  constexpr std::int64_t elements = 840 * 16;  // chunks of equal length for many chunk counts
  std::vector<Dataflow> parts;
  for (Rank rank = 0; rank < schedule.ranks; ++rank) {
    parts.push_back(
        compile_dataflow(schedule, lane, rank, elements, DataType::float32, Aliasing::in_place, vectors, nodes));
  }
  return parts;
}

/// Lengths of the messages from `sender` to `receiver`, in the order in which `side` posts them.
std::vector<std::int64_t> posted(const Dataflow& side, StepKind kind, Rank peer) {
  std::vector<std::int64_t> lengths;
  for (const DataflowStep& step : side.steps) {
    if (step.kind != kind || side.messages[static_cast<std::size_t>(step.message)].peer != peer) continue;
    lengths.push_back(step.elements);
  }
  return lengths;
}

struct MessageChecks {
  const std::vector<int>& nodes;

  bool apart(Rank a, Rank b) const { return nodes[static_cast<std::size_t>(a)] != nodes[static_cast<std::size_t>(b)]; }
  /// A rank touches memory of its node only, waits for ranks of its node only, and waits for each message once.
  void expect_one_node(const Dataflow& part, Rank rank) const {
    for (const auto* places : {&part.sources, &part.destinations}) {
      for (const Location& at : *places) EXPECT_FALSE(apart(at.rank, rank));
    }
    for (const auto* waits : {&part.waits, &part.at_end, &part.at_end_of_turn}) {
      for (const Wait& wait : *waits) EXPECT_FALSE(apart(wait.rank, rank));
    }
    std::vector<std::string> states(part.messages.size());
    for (const DataflowStep& step : part.steps) {
      if (step.kind == StepKind::sum) continue;
      states[static_cast<std::size_t>(step.message)] += step.kind == StepKind::await ? "awaited" : "posted ";
    }
    for (const std::string& state : states) EXPECT_EQ(state, "posted awaited");
    for (const DataflowMessage& message : part.messages) {
      EXPECT_TRUE(apart(message.peer, rank));
      EXPECT_EQ(message.place.rank, rank);
    }
  }
};

// What goes between nodes is what the schedule's own count says: nothing twice, nothing more.
TEST(Dataflow, MessagesMatchAndCountWhatTheScheduleSendsBetweenNodes) {
  const std::vector<std::vector<int>> maps{two_by_two, {0, 1, 0, 1}, {0, 0, 0, 0, 1}, {0, 0, 1, 1, 2, 2}};
  for (const std::vector<int>& nodes : maps) {
    const MessageChecks check{nodes};
    for (const schedule::Builder* builder : schedule::builders()) {
      const schedule::BuildContext context{static_cast<int>(nodes.size()), {}, {}};
      if (!builder->supports(schedule::completed(*builder, context))) continue;
      SCOPED_TRACE(std::string(builder->name) + " on " + std::to_string(nodes.size()));
      const schedule::Schedule whole = schedule::build(builder->name, context);
      for (std::size_t lane = 0; lane < whole.lanes.size(); ++lane) {
        schedule::Schedule alone = whole;
        alone.lanes = {whole.lanes[lane]};
        const std::vector<std::vector<double>> link = schedule::count(alone).link;
        for (const Vectors vectors : {Vectors::shared, Vectors::own}) {
          const std::vector<Dataflow> parts = all_parts(whole, lane, vectors, nodes);
          for (Rank a = 0; a < whole.ranks; ++a) {
            check.expect_one_node(parts[static_cast<std::size_t>(a)], a);
            for (Rank b = 0; b < whole.ranks; ++b) {
              const auto sent = posted(parts[static_cast<std::size_t>(a)], StepKind::send, b);
              EXPECT_EQ(sent, posted(parts[static_cast<std::size_t>(b)], StepKind::receive, a));
              const double vectors_sent = link[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
              const auto elements = std::accumulate(sent.begin(), sent.end(), std::int64_t{0});
              EXPECT_NEAR(static_cast<double>(elements), check.apart(a, b) ? vectors_sent * 840 * 16 : 0, 1e-6);
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ringmaster::collective
