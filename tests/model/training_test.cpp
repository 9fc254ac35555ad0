// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "gradient_check.hpp"
#include "model/optimizer.hpp"

namespace ringmaster::model {
namespace {

double train(Workbench<float>& bench, int steps, double rate) {
  OptimizerOptions options;
  options.learning_rate = rate;
  std::int64_t elements = 0;
  for (const ParameterInfo& info : bench.model().parameters()) elements += info.size();
  Optimizer optimizer(options, elements);
  for (int step = 0; step < steps; ++step) {
    bench.forward();
    bench.backward();
    optimizer.begin_step();
    std::int64_t offset = 0;
    for (std::size_t p = 0; p < bench.values().size(); ++p) {
      optimizer.update(offset, bench.values()[p], bench.gradients()[p], 1, bench.model().parameters()[p].decays);
      offset += bench.model().parameters()[p].size();
    }
  }
  return bench.forward();
}

TEST(Transformer, LearnsASmallBatchByHeart) {
  ModelChoice choice = small_choice("transformer");
  choice.parameters.set("width", std::int64_t{48});
  choice.parameters.set("context", std::int64_t{16});
  Workbench<float> bench(make_model(choice), 2, 1);
  const double start = bench.forward();
  EXPECT_NEAR(start, std::log(11.0), 0.1);
  EXPECT_LT(train(bench, 150, 3e-3), 0.1 * start);
}

TEST(Transformer, DoesNotSeeLaterTokens) {
  Workbench<double> bench(make_model_double(small_choice("transformer")), 1, 1);
  std::vector<std::int32_t> tokens(bench.input().tokens.begin(), bench.input().tokens.end());
  std::vector<double*> addresses;
  for (auto& values : bench.values()) addresses.push_back(values.data());
  Input<double> input = bench.input();
  input.tokens = tokens;
  const double before = bench.model().forward(addresses, input, {});
  tokens.back() = (tokens.back() + 1) % 11;
  const double after = bench.model().forward(addresses, input, {});
  EXPECT_NE(before, after);
  // One loss of 70 may change, and that by little at the start.
  EXPECT_LT(std::abs(before - after), 1.0 / 70);
}

TEST(Mlp, LearnsASmallBatchByHeart) {
  Workbench<float> bench(make_model(small_choice("mlp")), 4, 1);
  const double start = bench.forward();
  EXPECT_LT(train(bench, 400, 1e-2), 0.05 * start);
}

TEST(Layers, LearnASmallBatch) {
  Workbench<float> bench(make_model(small_choice("layers")), 2, 1);
  const double start = bench.forward();
  EXPECT_LT(train(bench, 300, 1e-2), 0.5 * start);
}

// The product's sides are whole numbers: a half of the smallest side is what rounding may cost.
TEST(Layers, HitTheirFlopsAndParameters) {
  const LayerShape shapes[] = {{7.08084e8, 9536, 3211264}, {1.3102e9, 1117184, 1204224}, {1.2288e7, 2049000, 4000},
                               {2.37142e9, 1536, 2058526}, {2.4e9, 2363904, 1258291},    {1e8, 0, 4096},
                               {1e8, 100000, 0},           {4.71859e6, 393838, 3145728}};
  for (const LayerShape& shape : shapes) {
    ModelChoice choice;
    choice.kind = "layers";
    choice.layers = {shape, {0, 16, 64}};
    const auto model = make_model(choice);
    EXPECT_NEAR(model->flops_per_sample() / shape.flops, 1, 0.03) << shape.flops << " " << shape.parameters;
    std::int64_t parameters = -16;
    for (const ParameterInfo& info : model->parameters()) parameters += info.size();
    EXPECT_EQ(parameters, shape.parameters);
  }
}

TEST(Models, SayWhatTheyCannotDo) {
  ModelChoice choice;
  choice.parameters.set("heads", std::int64_t{7});
  EXPECT_THROW(make_model(choice), UserError);
  choice.kind = "transfomer";
  EXPECT_THROW(make_model(choice), UserError);
  choice.kind = "layers";
  EXPECT_THROW(make_model(choice), UserError);
}

TEST(Initialize, DependsOnSeedAndIndexOnly) {
  const ParameterInfo info{"w", {100, 100}, Initializer::normal, 0.5, true, -1};
  std::vector<float> a(10000), b(10000), c(10000);
  initialize<float>(info, 3, 1, a);
  initialize<float>(info, 3, 1, b);
  initialize<float>(info, 4, 1, c);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  double sum = 0, squares = 0;
  for (const float x : a) sum += static_cast<double>(x), squares += static_cast<double>(x * x);
  EXPECT_NEAR(sum / 1e4, 0, 0.025);         // five deviations of the mean
  EXPECT_NEAR(squares / 1e4, 0.25, 0.018);  // five of the variance
}

}  // namespace
}  // namespace ringmaster::model
