// SPDX-License-Identifier: Apache-2.0
#include "model/optimizer.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.hpp"

namespace ringmaster::model {
namespace {

std::vector<float> numbers(std::size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(n);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

TEST(Adamw, FollowsTheScalarReference) {
  const OptimizerOptions options{OptimizerKind::adamw, 0.01, 0, 0.9, 0.95, 1e-8, 0.1};
  for (const bool decays : {true, false}) {
    std::vector<float> values = numbers(37, 1);
    std::vector<double> expected(values.begin(), values.end()), m(37), v(37);
    Optimizer optimizer(options, 37);
    for (int step = 1; step <= 20; ++step) {
      const std::vector<float> gradients = numbers(37, static_cast<std::uint64_t>(step + 10));
      optimizer.begin_step();
      optimizer.update(0, values, gradients, 0.5, decays);
      for (std::size_t i = 0; i < 37; ++i) {
        const double g = 0.5 * static_cast<double>(gradients[i]);
        m[i] = 0.9 * m[i] + 0.1 * g;
        v[i] = 0.95 * v[i] + 0.05 * g * g;
        const double change = m[i] / (1 - std::pow(0.9, step)) / (std::sqrt(v[i] / (1 - std::pow(0.95, step))) + 1e-8);
        expected[i] -= 0.01 * (change + (decays ? 0.1 : 0.0) * expected[i]);
      }
    }
    // 20 steps of a few roundings of 6e-8 each on values of about 1.
    for (std::size_t i = 0; i < 37; ++i) EXPECT_NEAR(static_cast<double>(values[i]), expected[i], 1e-5);
  }
}

TEST(Sgd, FollowsTheScalarReference) {
  const OptimizerOptions options{OptimizerKind::sgd, 0.1, 0.9, 0, 0, 0, 0.01};
  std::vector<float> values = numbers(21, 1);
  std::vector<double> expected(values.begin(), values.end()), v(21);
  Optimizer optimizer(options, 21);
  for (int step = 1; step <= 10; ++step) {
    const std::vector<float> gradients = numbers(21, static_cast<std::uint64_t>(step + 10));
    optimizer.begin_step();
    optimizer.update(0, values, gradients, 2, true);
    for (std::size_t i = 0; i < 21; ++i) {
      v[i] = 0.9 * v[i] + 2 * static_cast<double>(gradients[i]);
      expected[i] -= 0.1 * (v[i] + 0.01 * expected[i]);
    }
  }
  for (std::size_t i = 0; i < 21; ++i) EXPECT_NEAR(static_cast<double>(values[i]), expected[i], 1e-4);
}

TEST(Optimizers, GiveTheSameBitsHoweverRangesAreCut) {
  for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adamw}) {
    OptimizerOptions options;
    options.kind = kind;
    std::vector<float> whole = numbers(1000, 1), pieces = whole;
    Optimizer one(options, 1000), two(options, 1000);
    for (int step = 0; step < 3; ++step) {
      const std::vector<float> g = numbers(1000, static_cast<std::uint64_t>(step));
      one.begin_step();
      two.begin_step();
      one.update(0, whole, g, 1, true);
      for (std::size_t at = 0; at < 1000; at += 37) {
        const std::size_t n = std::min<std::size_t>(37, 1000 - at);
        two.update(static_cast<std::int64_t>(at), std::span(pieces).subspan(at, n),
                   std::span<const float>(g).subspan(at, n), 1, true);
      }
    }
    EXPECT_EQ(whole, pieces);
    EXPECT_TRUE(std::equal(one.state().begin(), one.state().end(), two.state().begin()));
  }
}

TEST(SumOfSquares, IsInDoublePrecision) {
  std::vector<float> values(100003, 1e-3F);
  values[0] = 1e4F;
  const double small = static_cast<double>(1e-3F);
  // 16 lanes: in the one with the large value each of 6,250 additions loses at most 2^-27.
  EXPECT_NEAR(sum_of_squares(values), 1e8 + 100002 * small * small, 6250 * 0x1p-27 + 1e-7);
}

}  // namespace
}  // namespace ringmaster::model
