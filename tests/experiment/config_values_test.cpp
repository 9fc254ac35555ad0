// SPDX-License-Identifier: Apache-2.0
// What a valid config means: defaults, overrides, sweeps, roles, assertions, the resolved text and its hash.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "config_support.hpp"
#include "experiment/config_keys.hpp"

namespace ringmaster::experiment {
namespace {

using Names = std::vector<std::string>;

TEST(ConfigValues, TheSmallestConfigHasDefaultsForEverything) {
  const Config config = read_text("model: mlp\n");
  EXPECT_EQ(config.name, "c");
  EXPECT_EQ(config.measure.rounds, MeasureOptions{}.rounds);
  EXPECT_EQ(names_of(config, "baseline"), Names{"library"});
  EXPECT_EQ(names_of(config, "variant"), Names{"ring"});
  EXPECT_EQ(names_of(config, "twin"), Names{"twin"});
  EXPECT_EQ(names_of(config, "single"), Names{"single"});
  EXPECT_EQ(names_of(config, "unrecorded"), Names{"unrecorded"});
  const experiment::Setup& setup = config.points.front().setup;
  EXPECT_EQ(setup.data.kind, "synthetic");
  EXPECT_EQ(setup.loader.threads, -1);
  EXPECT_EQ(setup.ranks, 0);
  EXPECT_EQ(setup.train.bucket_bytes, 4 << 20);
}

TEST(ConfigValues, OnlyTheLibrarysOwnChoiceIsTheBaseline) {
  const Config config = read_text(R"yaml(
model: mlp
sweep:
  communication.collective: [library-nonblocking, "library-algorithm(id=segmented-ring,segment=64K)", library-han]
)yaml");
  EXPECT_EQ(names_of(config, "baseline"), Names{"library"});
  EXPECT_EQ(names_of(config, "variant").size(), 3U);
}

TEST(ConfigValues, TheTablesDefaultsAreThoseOfTheTypes) {
  const experiment::Setup made = read_text("model: mlp\n").points.front().setup;
  const experiment::Setup fresh;
  EXPECT_EQ(made.train.batch, fresh.train.batch);
  EXPECT_EQ(made.train.optimizer.kind, fresh.train.optimizer.kind);
  EXPECT_EQ(made.train.optimizer.learning_rate, fresh.train.optimizer.learning_rate);
  EXPECT_EQ(made.train.optimizer.beta2, fresh.train.optimizer.beta2);
  EXPECT_EQ(made.train.optimizer.weight_decay, fresh.train.optimizer.weight_decay);
  EXPECT_EQ(made.loader.queue, fresh.loader.queue);
  EXPECT_EQ(made.train.plant.compute_factor, fresh.train.plant.compute_factor);
  EXPECT_EQ(made.train.plant.rank, fresh.train.plant.rank);
}

TEST(ConfigValues, ValuesArriveWhereTheyBelong) {
  const Config config = read_text(R"(
name: all
seed: 7
model: {kind: mlp, width: 64}
data: {kind: synthetic, samples: 100, loaders: 2}
train: {batch: 010, learning_rate: 1e-2, optimizer: sgd, checkpoint: {folder: here, every: 5}}
parallel: {data: 3}
communication: {collective: {direct: {form: one_shot}}, bucket: 64K, overlap: no, rank_order: [1, 0]}
measure: {twin: false}
plant: {loader_s: 0.5, slow_rank: 1, slow_rank_s: 0.25, link_bytes_per_s: 20M, link_latency_s: 1e-3}
)");
  const auto variant = std::find_if(config.points.begin(), config.points.end(),
                                    [](const PlannedPoint& p) { return p.role == "variant"; });
  ASSERT_NE(variant, config.points.end());
  const experiment::Setup& setup = variant->setup;
  EXPECT_EQ(config.seed, 7U);
  EXPECT_EQ(setup.train.seed, 7U);
  EXPECT_EQ(setup.model.parameters.integer("width"), 64);
  EXPECT_EQ(setup.data.parameters.integer("samples"), 100);
  EXPECT_EQ(setup.loader.threads, 2);
  EXPECT_EQ(setup.train.batch, 10);
  EXPECT_EQ(setup.train.optimizer.learning_rate, 0.01);
  EXPECT_EQ(setup.train.optimizer.kind, model::OptimizerKind::sgd);
  EXPECT_EQ(config.checkpoint.folder, "here");
  EXPECT_EQ(config.checkpoint.every, 5);
  EXPECT_EQ(setup.ranks, 3);
  EXPECT_EQ(setup.train.allreduce.algorithm, "direct");
  EXPECT_EQ(setup.train.allreduce.parameters.text("form"), "one-shot");
  EXPECT_EQ(setup.train.allreduce.rank_order, (std::vector<int>{1, 0}));
  EXPECT_EQ(setup.train.bucket_bytes, 65536);
  EXPECT_FALSE(setup.train.overlap);
  EXPECT_EQ(setup.train.plant.rank, 1);
  EXPECT_EQ(setup.train.plant.sleep_s, 0.25);
  EXPECT_EQ(setup.train.plant.label, Label::forward);
  EXPECT_EQ(setup.loader.planted_delay_s, 0.5);
  EXPECT_EQ(setup.link.bytes_per_s, 20.0 * (1 << 20));
  EXPECT_EQ(setup.link.latency_s, 1e-3);
  EXPECT_TRUE(names_of(config, "twin").empty());
}

TEST(ConfigValues, OverridesLieOverTheFileAndOverWorkloads) {
  const std::string text = "workloads: [{name: a, model: mlp, train: {batch: 2}}, {name: b, model: mlp}]\n";
  for (const PlannedPoint& point : read_text(text, {"train.batch=5", "model.width=32"}).points) {
    EXPECT_EQ(point.setup.train.batch, 5);
    EXPECT_EQ(point.setup.model.parameters.integer("width"), 32);
  }
}

TEST(ConfigValues, AnOverrideOfASweptKeyEndsItsSweep) {
  const std::string text = "model: mlp\nsweep: {communication.collective: [library, ring, tree]}\n";
  EXPECT_EQ(names_of(read_text(text, {"communication.collective=tree"}), "variant"), Names{"tree"});
  EXPECT_EQ(names_of(read_text(text, {"sweep.communication.collective=[ring]"}), "variant"), Names{"ring"});
}

TEST(ConfigValues, ASweepIsTheProductWithItsCompanions) {
  const Config config = read_text(R"(
model: mlp
sweep:
  train.batch: [4, 8]
  communication.collective: [library, ring, direct(form=one-shot)]
)");
  EXPECT_EQ(names_of(config, "baseline"), (Names{"library batch=4", "library batch=8"}));
  EXPECT_EQ(names_of(config, "variant"),
            (Names{"ring batch=4", "ring batch=8", "direct(form=one-shot) batch=4", "direct(form=one-shot) batch=8"}));
  EXPECT_EQ(names_of(config, "twin"), (Names{"twin batch=4", "twin batch=8"}));
  EXPECT_EQ(names_of(config, "single"), (Names{"single batch=4", "single batch=8"}));
  EXPECT_EQ(names_of(config, "unrecorded").size(), 1U);
  for (const PlannedPoint& point : config.points) {
    EXPECT_EQ(point.setup.train.communication == parallel::Communication::none, point.role == "twin");
    EXPECT_EQ(point.setup.ranks, point.role == "single" ? 1 : 0);
    EXPECT_TRUE(point.setup.train.batch == 4 || point.setup.train.batch == 8);
  }
}

TEST(ConfigValues, EachBucketSizeHasItsOwnBaseline) {
  const Config config = read_text("model: mlp\nsweep: {communication.bucket: [64K, 1M]}\n");
  EXPECT_EQ(names_of(config, "baseline"), (Names{"library bucket=64K", "library bucket=1M"}));
  EXPECT_EQ(names_of(config, "variant"), (Names{"ring bucket=64K", "ring bucket=1M"}));
  EXPECT_EQ(names_of(config, "twin"), Names{"twin"});
}

TEST(ConfigValues, WorkloadsNameTheirPoints) {
  const Config config = read_text("workloads: [{model: mlp}, {name: b, model: {kind: mlp, width: 2}}]\n");
  EXPECT_EQ(names_of(config, "variant"), (Names{"mlp/ring", "b/ring"}));
  EXPECT_EQ(config.points.back().workload, "b");
}

TEST(ConfigValues, AStoredModelIsFoundAndOtherKeysLieOverIt) {
  ConfigFiles files;
  files.model = [](const std::string& name) -> std::optional<std::pair<std::string, std::string>> {
    if (name != "stored") return std::nullopt;
    return std::make_pair(std::string("kind: mlp\nwidth: 77\n"), std::string("models/stored.yaml"));
  };
  const Config config = parse_config("model: stored\n", "c.yaml", {"model.layers=9"}, files);
  EXPECT_EQ(config.points.front().setup.model.kind, "mlp");
  EXPECT_EQ(config.points.front().setup.model.parameters.integer("width"), 77);
  EXPECT_EQ(config.points.front().setup.model.parameters.integer("layers"), 9);
  EXPECT_EQ(config.points.front().setup.model_name, "stored");
}

TEST(ConfigValues, LayersAreRead) {
  const Config config = read_text(
      "model: {kind: layers, layers: [{flops: 1e6, parameters: 1000, bytes: 40}, {flops: 2e6, parameters: 5}]}\n");
  const auto& layers = config.points.front().setup.model.layers;
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0].flops, 1e6);
  EXPECT_EQ(layers[0].parameters, 1000);
  EXPECT_EQ(layers[1].bytes, 0);
}

TEST(ConfigValues, AssertionsAreRead) {
  const Config config = read_text("model: mlp\nassert: {step_us: '<= 500', ring.final_loss: ['> 1', '<3e0']}\n");
  ASSERT_EQ(config.assertions.size(), 3U);
  EXPECT_EQ(config.assertions[0].quantity, "ring.final_loss");
  EXPECT_EQ(config.assertions[1].comparison, "<");
  EXPECT_EQ(config.assertions[1].bound, 3.0);
  EXPECT_EQ(config.assertions[2].text, "step_us <= 500");
}

const char* const rich = R"(
name: rich
workloads:
  - {name: a, model: {kind: mlp, width: 64}, data: {samples: 100}}
  - {name: b, model: {kind: layers, layers: [{flops: 1e6, parameters: 1000, bytes: 40}]}}
communication: {bucket: 1M, collective: direct(form=one-shot), rank_order: [1, 0]}
train: {learning_rate: 0.1, checkpoint: {folder: "a b: 'c'"}}
sweep: {communication.collective: [ring, direct(form=one-shot)], train.batch: [1, 2], parallel.data: [auto, 1]}
assert: {step_us: "< 1.5", a/ring data=1 batch=1.step_us: "< 3"}
)";

TEST(ConfigResolved, ReadsBackAsTheSame) {
  const Config once = read_text(rich);
  const Config again = read_text(once.resolved);
  EXPECT_EQ(once.resolved, again.resolved);
  EXPECT_EQ(once.hash, again.hash);
  ASSERT_EQ(once.points.size(), again.points.size());
  for (std::size_t i = 0; i < once.points.size(); ++i) EXPECT_EQ(once.points[i].name, again.points[i].name);
}

TEST(ConfigResolved, HashDoesNotDependOnOrderCommentsOrSpelling) {
  const std::string a = "model: {kind: mlp, width: 64}\nseed: 3\ntrain: {batch: 4, clip_norm: 1}\n";
  const std::string b = "# words\ntrain:\n  clip_norm: 1.0\n  batch: '4'\nseed: 3\nmodel: {width: 64, kind: mlp}\n";
  EXPECT_EQ(read_text(a).hash, read_text(b).hash);
  EXPECT_EQ(read_text(a).hash, read_text(a + "communication: {bucket: 4M}\n").hash);
  EXPECT_EQ(read_text(a, {"seed=3"}).hash, read_text(a).hash);
}

TEST(ConfigResolved, HashDependsOnEveryKindOfSetting) {
  const std::string base = "model: mlp\n";
  Names hashes{read_text(base).hash};
  for (const char* change : {"seed=4", "train.batch=4", "model.width=3", "data.samples=50", "measure.rounds=3",
                             "communication.collective=tree", "communication.rank_order=[1, 0]", "name=other",
                             "sweep.train.batch=[1, 2]", "assert.step_us=< 3", "plant.loader_s=1"}) {
    hashes.push_back(read_text(base, {change}).hash);
  }
  std::sort(hashes.begin(), hashes.end());
  EXPECT_EQ(std::unique(hashes.begin(), hashes.end()), hashes.end());
}

TEST(ConfigKeys, DefaultsFitTheirOwnSpecs) {
  for (const Key& key : config_keys()) {
    std::string problem;
    const auto value = parse_value(key, key.spec.default_text, problem);
    ASSERT_TRUE(value.has_value()) << key.spec.name << " " << problem;
    EXPECT_EQ(parse_value(key, value_text(key, *value), problem), value) << key.spec.name;
  }
}

TEST(ConfigKeys, TheDocumentIsUpToDate) {
  std::ifstream file(RINGMASTER_SOURCE_DIR "/docs/config.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == config_markdown()) << "write docs/config.md anew: ringmaster list config";
}

}  // namespace
}  // namespace ringmaster::experiment
