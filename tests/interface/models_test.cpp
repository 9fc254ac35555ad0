// SPDX-License-Identifier: Apache-2.0
// One suite over the registry: what every model must do, whatever it computes.
#include <gtest/gtest.h>

#include <ostream>

#include "../model/gradient_check.hpp"
#include "base/registry.hpp"

namespace ringmaster::model {

void PrintTo(const ModelEntry* entry, std::ostream* out);
void PrintTo(const ModelEntry* entry, std::ostream* out) { *out << entry->name; }

namespace {

class EveryModel : public testing::TestWithParam<const ModelEntry*> {
 protected:
  static ModelChoice choice() { return small_choice(GetParam()->name); }
};

// Central differences in double: the error is step^2 f'''/6 + 1e-16 loss / step, about 1e-10 here.
TEST_P(EveryModel, HasTheGradientsOfItsLoss) {
  Workbench<double> bench(make_model_double(choice()), 2, 7);
  Random random(3);
  for (auto& values : bench.values()) {
    for (double& value : values) value += 0.1 * random.normal();
  }
  bench.forward();
  bench.backward(1.5);
  const auto gradients = bench.gradients();
  for (std::size_t p = 0; p < gradients.size(); ++p) {
    const std::size_t stride = std::max<std::size_t>(1, gradients[p].size() / 24);
    for (std::size_t i = 0; i < gradients[p].size(); i += stride) {
      const double expected = 1.5 * bench.slope(p, i, 1e-5);
      ASSERT_NEAR(gradients[p][i], expected, 2e-8 + 1e-6 * std::abs(expected))
          << bench.model().parameters()[p].name << "[" << i << "]";
    }
  }
}

TEST_P(EveryModel, GivesTheSameBitsFromTheSameSeed) {
  Workbench<float> one(make_model(choice()), 3, 5);
  Workbench<float> two(make_model(choice()), 3, 5);
  EXPECT_EQ(one.forward(), two.forward());
  one.backward();
  two.backward();
  EXPECT_EQ(one.gradients(), two.gradients());
  Workbench<float> other(make_model(choice()), 3, 6);
  EXPECT_NE(one.forward(), other.forward());
}

TEST_P(EveryModel, OverwritesOrAddsGradientsAsTold) {
  Workbench<double> bench(make_model_double(choice()), 2, 7);
  for (auto& gradient : bench.gradients()) std::fill(gradient.begin(), gradient.end(), 1e9);
  bench.forward();
  bench.backward();
  const auto once = bench.gradients();
  bench.forward();
  bench.backward(2, Accumulate::add);
  for (std::size_t p = 0; p < once.size(); ++p) {
    for (std::size_t i = 0; i < once[p].size(); ++i) {
      ASSERT_NEAR(bench.gradients()[p][i], 3 * once[p][i], 1e-12 + 1e-9 * std::abs(once[p][i]));
    }
  }
}

TEST_P(EveryModel, CallsHooksInTheOrderOfExecution) {
  Workbench<float> bench(make_model(choice()), 1, 5);
  std::vector<std::pair<char, int>> calls;
  Hooks hooks;
  hooks.before_forward = [&](int layer) { calls.emplace_back('f', layer); };
  hooks.after_forward = [&](int layer) { calls.emplace_back('F', layer); };
  hooks.before_backward = [&](int layer) { calls.emplace_back('b', layer); };
  hooks.after_backward = [&](int layer) { calls.emplace_back('B', layer); };
  bench.forward(hooks);
  bench.backward(1, Accumulate::overwrite, hooks);
  std::vector<std::pair<char, int>> expected;
  const int layers = bench.model().layer_count();
  for (int i = 0; i < layers; ++i) expected.insert(expected.end(), {{'f', i}, {'F', i}});
  for (int i = layers - 1; i >= 0; --i) expected.insert(expected.end(), {{'b', i}, {'B', i}});
  EXPECT_EQ(calls, expected);
}

TEST_P(EveryModel, FinishesAGradientWithTheLastLayerThatUsesIt) {
  Workbench<double> bench(make_model_double(choice()), 2, 7);
  bench.forward();
  bench.backward();
  const auto whole = bench.gradients();
  for (auto& gradient : bench.gradients()) std::fill(gradient.begin(), gradient.end(), -1);
  Model<double>& model = bench.model();
  std::vector<int> seen(whole.size(), 0);
  Hooks hooks;
  hooks.after_backward = [&](int layer) {
    for (const int parameter : model.layer_parameters(layer)) {
      const auto p = static_cast<std::size_t>(parameter);
      ++seen[p];
      bool later = false;
      for (int below = 0; below < layer; ++below) {
        for (const int used : model.layer_parameters(below)) later = later || used == parameter;
      }
      if (!later) {
        EXPECT_EQ(bench.gradients()[p], whole[p]) << model.parameters()[p].name;
      }
    }
  };
  bench.forward();
  bench.backward(1, Accumulate::overwrite, hooks);
  for (const int times : seen) EXPECT_GE(times, 1);
}

TEST_P(EveryModel, ComputesPartsOfWhatItWasPreparedFor) {
  Workbench<float> exact(make_model(choice()), 2, 5);
  Workbench<float> larger(make_model(choice()), 2, 5);
  larger.model().prepare(5);
  EXPECT_EQ(exact.forward(), larger.forward());
}

TEST_P(EveryModel, DescribesItself) {
  const auto model = make_model(choice());
  EXPECT_GT(model->flops_per_sample(), 0);
  EXPECT_FALSE(std::string(GetParam()->summary).empty());
  for (int i = 0; i < model->layer_count(); ++i) EXPECT_FALSE(model->layer_name(i).empty());
  for (const ParameterInfo& info : model->parameters()) {
    EXPECT_GT(info.size(), 0) << info.name;
    EXPECT_LT(info.split_axis, static_cast<int>(info.shape.size())) << info.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModel, testing::ValuesIn(models().begin(), models().end()),
                         [](const auto& tested) { return std::string(tested.param->name); });

}  // namespace
}  // namespace ringmaster::model
