// SPDX-License-Identifier: Apache-2.0
#include "base/spec.hpp"

#include <gtest/gtest.h>

namespace ringmaster {
namespace {

const ParameterSpec layers{"layers", ParameterType::integer, "", "4", 1, 64, "how many"};
const ParameterSpec rate{"rate", ParameterType::real, "bytes/s", "1e-3", 0, 1};
const ParameterSpec form{"form", ParameterType::text, "", "two-shot", 0, 0, "", {"two-shot", "one-shot"}};
const ParameterSpec segment{"segment", ParameterType::size, "bytes", "64K"};

std::string problem_of(const ParameterSpec& spec, std::string_view text) {
  std::string problem;
  const auto value = parse_parameter(spec, text, problem);
  EXPECT_EQ(value.has_value(), problem.empty());
  return problem;
}

TEST(ParseParameter, SaysWhatItExpected) {
  EXPECT_EQ(problem_of(layers, "x"), "expects an integer, got 'x'");
  EXPECT_EQ(problem_of(layers, "65"), "must be in 1..64, got 65");
  EXPECT_EQ(problem_of(layers, "4.0"), "expects an integer, got '4.0'");
  EXPECT_EQ(problem_of(rate, "nan"), "expects a finite number, got 'nan'");
  EXPECT_EQ(problem_of(form, "two_shot"), "has no choice 'two_shot' (did you mean 'two-shot'?)");
  EXPECT_EQ(problem_of(segment, "-1"), "expects a size such as 64K, got '-1'");
  EXPECT_EQ(problem_of(segment, "64M"), "");
}

TEST(DefaultParameters, AreCompleteAndTyped) {
  const std::vector<ParameterSpec> specs{layers, rate, form, segment};
  const Parameters parameters = default_parameters(specs);
  EXPECT_EQ(parameters.integer("layers"), 4);
  EXPECT_EQ(parameters.real("rate"), 1e-3);
  EXPECT_EQ(parameters.text("form"), "two-shot");
  EXPECT_EQ(parameters.integer("segment"), 65536);
  EXPECT_EQ(parameters.describe(), "form=two-shot layers=4 rate=0.001 segment=65536");
}

TEST(DescribeSpec, IsOneLineForHelpAndDocs) {
  EXPECT_EQ(describe(layers), "integer, default 4, 1..64");
  EXPECT_EQ(describe(segment), "size, default 64K, at least 0, bytes");
  EXPECT_EQ(describe(form), "text, default two-shot, one of two-shot | one-shot");
}

}  // namespace
}  // namespace ringmaster
