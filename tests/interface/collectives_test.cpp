// SPDX-License-Identifier: Apache-2.0
// One suite over the registry: what every allreduce must do, whoever sends its messages. The threads of a test have
// no MPI, so a library's own allreduce must refuse them and say why; tests/mpi runs those.
#include <gtest/gtest.h>

#include <set>

#include "../collective/cases.hpp"
#include "base/error.hpp"
#include "experiment/config.hpp"
#include "transport/threads.hpp"

namespace ringmaster::collective {

void PrintTo(const VariantInfo& variant, std::ostream* out);
void PrintTo(const VariantInfo& variant, std::ostream* out) { *out << variant.name; }

namespace {

using test::Placement;
using transport::ProcessGroup;
using transport::run_as_threads;

class EveryAllreduce : public testing::TestWithParam<VariantInfo> {
 protected:
  static AllreduceChoice choice() {
    AllreduceChoice chosen;
    chosen.algorithm = GetParam().name;
    return chosen;
  }
};

TEST_P(EveryAllreduce, HasANameASummaryAndADescribedParameterList) {
  EXPECT_FALSE(GetParam().name.empty());
  EXPECT_FALSE(GetParam().summary.empty());
  std::set<std::string> names;
  for (const ParameterSpec& spec : GetParam().parameters) EXPECT_TRUE(names.insert(spec.name).second);
  EXPECT_EQ(require_variant(GetParam().name).name, GetParam().name);
}

TEST_P(EveryAllreduce, AnswersForAnyRankCountWithAReasonWhereItSaysNo) {
  for (const int ranks : {1, 2, 3, 16, 17, 100}) {
    const Verdict verdict = supports(choice(), ranks);
    EXPECT_EQ(verdict.ok, verdict.reason.empty());
  }
}

TEST_P(EveryAllreduce, RunsOverThreadsOrSaysWhyNot) {
  const bool is_library = GetParam().is_library;
  for (const int ranks : {1, 2, 5}) {
    if (!supports(choice(), ranks)) continue;
    run_as_threads(ranks, [&](ProcessGroup& group) {
      const Verdict verdict = supports(choice(), group);
      EXPECT_EQ(verdict.ok, !is_library) << verdict.reason;
      if (is_library) {
        EXPECT_FALSE(verdict.reason.empty());
        EXPECT_THROW(Allreduce(group, choice()), UserError);
        return;
      }
      const Allreduce allreduce(group, choice());
      EXPECT_NE(allreduce.what_runs(4012).find("over threads"), std::string::npos);
      EXPECT_FALSE(allreduce.identity().empty());
      test::reduce_and_check<float>(group, choice(), 1003, Placement::in_place);
      test::reduce_and_check<double>(group, choice(), 1003, Placement::out_of_place);
    });
  }
}

TEST_P(EveryAllreduce, IsShownInATableOfEverythingUnderANameThatCanBeGivenBack) {
  std::set<std::string> labels;
  for (const AllreduceChoice& shown : every_allreduce()) {
    if (shown.algorithm != GetParam().name) continue;
    EXPECT_TRUE(labels.insert(label(shown)).second) << label(shown);
    const AllreduceChoice back = experiment::parse_collective(label(shown));
    EXPECT_EQ(back.algorithm, shown.algorithm);
    EXPECT_EQ(back.parameters.values(), shown.parameters.values()) << label(shown);
  }
  EXPECT_FALSE(labels.empty());
}

TEST(EveryAllreduceTogether, HasOneBaseline) {
  int baselines = 0;
  for (const VariantInfo& variant : allreduce_variants()) baselines += variant.is_baseline ? 1 : 0;
  EXPECT_EQ(baselines, 1);
}

/// A library's messages are its own: nobody counts them.
class EverySchedule : public EveryAllreduce {};

TEST_P(EverySchedule, SendsAtLeastWhatAnAllreduceMust) {
  constexpr int ranks = 4;
  run_as_threads(ranks, [&](ProcessGroup& group) {
    const Allreduce::Cost cost = Allreduce(group, choice()).cost(1 << 20);
    EXPECT_GE(cost.messages, 2);
    EXPECT_GE(cost.wire_bytes, 2.0 * (ranks - 1) / ranks * (1 << 20) * 0.999);
  });
}

std::vector<VariantInfo> schedule_variants() {
  std::vector<VariantInfo> schedules;
  for (const VariantInfo& variant : allreduce_variants()) {
    if (!variant.is_library) schedules.push_back(variant);
  }
  return schedules;
}

std::string test_name(const testing::TestParamInfo<VariantInfo>& entry) {
  std::string name = entry.param.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}
INSTANTIATE_TEST_SUITE_P(Registry, EveryAllreduce, testing::ValuesIn(allreduce_variants()), test_name);
INSTANTIATE_TEST_SUITE_P(Registry, EverySchedule, testing::ValuesIn(schedule_variants()), test_name);

}  // namespace
}  // namespace ringmaster::collective
