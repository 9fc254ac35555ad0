// SPDX-License-Identifier: Apache-2.0
// Ranks of several nodes: shared memory inside a node, messages between nodes.
#include <gtest/gtest.h>

#include <cstring>

#include "../schedule/choices.hpp"
#include "cases.hpp"
#include "transport/threads.hpp"

namespace ringmaster::collective {
namespace {

using test::Placement;
using transport::ProcessGroup;
using transport::run_as_threads_on;

using Nodes = std::vector<int>;

/// Every schedule with every text choice, mixed; hierarchical also with the groups of the first node.
std::vector<AllreduceChoice> mixed_choices(const Nodes& nodes) {
  std::vector<AllreduceChoice> choices;
  const auto ranks = static_cast<int>(nodes.size());
  for (const VariantInfo& variant : allreduce_variants()) {
    if (variant.is_library) continue;
    for (const Parameters& parameters : test::text_choices(variant.parameters)) {
      AllreduceChoice choice;
      choice.algorithm = variant.name;
      choice.parameters = parameters;
      choice.transport = Transport::mixed;
      if (supports(choice, ranks)) choices.push_back(choice);
      if (!parameters.has("group")) continue;
      choice.parameters.set("group", std::int64_t{std::count(nodes.begin(), nodes.end(), nodes.front())});
      choices.push_back(choice);
    }
  }
  return choices;
}

class MixedOnThreads : public testing::TestWithParam<Nodes> {};

TEST_P(MixedOnThreads, AddsRealNumbers) {
  const std::size_t p = GetParam().size();
  run_as_threads_on(GetParam(), [&](ProcessGroup& group) {
    for (AllreduceChoice choice : mixed_choices(GetParam())) {
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, p - 1, p, p + 1, std::size_t{1000}}) {
        for (const std::int64_t segment : {0, 256}) {
          choice.segment_bytes = segment;
          test::reduce_and_check<float>(group, choice, count, Placement::in_place);
          test::reduce_and_check<double>(group, choice, count, Placement::out_of_place);
        }
      }
    }
  });
}

TEST_P(MixedOnThreads, AddsLongVectors) {
  run_as_threads_on(GetParam(), [&](ProcessGroup& group) {
    for (AllreduceChoice choice : mixed_choices(GetParam())) {
      test::reduce_and_check<float>(group, choice, 65'537, Placement::out_of_place);
      choice.segment_bytes = 32 << 10;
      test::reduce_and_check<float>(group, choice, 65'537, Placement::in_place);
    }
  });
}

// The order of additions is the schedule's, whatever carries it.
TEST_P(MixedOnThreads, LeavesTheBitsOfMessages) {
  run_as_threads_on(GetParam(), [&](ProcessGroup& group) {
    for (AllreduceChoice choice : mixed_choices(GetParam())) {
      std::vector<std::vector<float>> results;
      for (const Transport transport : {Transport::mixed, Transport::messages}) {
        choice.transport = transport;
        Allreduce allreduce(group, choice);
        std::vector<float> values(1013);
        for (std::size_t i = 0; i < values.size(); ++i) {
          values[i] = 1.0F / static_cast<float>(3 + i + 17 * static_cast<std::size_t>(group.rank()));
        }
        const auto bytes = std::as_writable_bytes(std::span(values));
        run(*allreduce.prepare({bytes, bytes, DataType::float32}), Waiting::yield);
        results.push_back(values);
      }
      ASSERT_EQ(std::memcmp(results[0].data(), results[1].data(), 4 * results[0].size()), 0) << label(choice);
      choice.transport = Transport::mixed;
      test::expect_same_bits(group, choice);
    }
  });
}

// The sum that completes is the one that divides, also where a message brought what was missing.
TEST_P(MixedOnThreads, AveragesAndTakesOtherTypes) {
  run_as_threads_on(GetParam(), [&](ProcessGroup& group) {
    for (const AllreduceChoice& choice : mixed_choices(GetParam())) {
      test::combine_and_check(group, choice, 1000, DataType::float32, Reduction::average, Placement::in_place);
      test::combine_and_check(group, choice, 1000, DataType::int32, Reduction::min, Placement::out_of_place);
    }
  });
}

// Two nodes of two and of four, three of two, nodes of one rank among them, and ranks that take turns.
INSTANTIATE_TEST_SUITE_P(Nodes, MixedOnThreads,
                         testing::Values(Nodes{0, 0, 1, 1}, Nodes{0, 0, 0, 0, 1, 1, 1, 1}, Nodes{0, 0, 1, 1, 2, 2},
                                         Nodes{0, 0, 0, 0, 1}, Nodes{0, 1, 2, 2}, Nodes{0, 1, 0, 1}));

TEST(MixedOnThreadsToo, RunsSeveralOperationsInFlight) {
  run_as_threads_on({0, 0, 1, 1}, [](ProcessGroup& group) {
    for (const char* name : {"ring", "hierarchical", "tree"}) {
      AllreduceChoice choice;
      choice.algorithm = name;
      choice.transport = Transport::mixed;
      for (const EngineMode mode : {EngineMode::own_thread, EngineMode::inline_progress}) {
        test::through_an_engine(group, choice, mode);
      }
    }
  });
}

TEST(Mixed, SaysWhyItDoesNotRun) {
  const auto reason_on = [](const Nodes& nodes) {
    std::string reason;
    run_as_threads_on(nodes, [&](ProcessGroup& group) {
      AllreduceChoice choice;
      choice.transport = Transport::mixed;
      const Verdict verdict = supports(choice, group);
      if (group.rank() == 0) reason = verdict.reason;
    });
    return reason;
  };
  EXPECT_EQ(reason_on({0, 0, 0}), "all ranks share one node: use ring@shared");
  EXPECT_EQ(reason_on({0, 1, 2}), "no two ranks share a node: use ring");
  EXPECT_EQ(reason_on({0, 1, 1}), "");
}

TEST(Mixed, SaysWhatRuns) {
  run_as_threads_on({0, 0, 1, 1}, [](ProcessGroup& group) {
    AllreduceChoice choice;
    choice.transport = Transport::mixed;
    EXPECT_EQ(label(choice), "ring@mixed");
    EXPECT_EQ(Allreduce(group, choice).what_runs(4096),
              "ring (ringmaster schedule, on shared memory inside nodes, point-to-point over threads between nodes, "
              "segment 1M)");
  });
}

}  // namespace
}  // namespace ringmaster::collective
