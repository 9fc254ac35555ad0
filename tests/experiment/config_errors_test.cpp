// SPDX-License-Identifier: Apache-2.0
// Each kind of mistake, with its exact place, and hostile texts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "config_support.hpp"
#include "experiment/yaml_reader.hpp"

namespace ringmaster::experiment {
namespace {

struct Mistake {
  const char* name;
  const char* text;
  const char* begins;
  const char* contains;
};

class WrongConfig : public testing::TestWithParam<Mistake> {};

TEST_P(WrongConfig, IsRefusedWithItsPlace) {
  const std::string lines = mistakes(GetParam().text);
  EXPECT_EQ(lines.rfind(std::string("c.yaml:") + GetParam().begins, 0), 0U) << lines;
  EXPECT_TRUE(has(lines, GetParam().contains)) << lines;
}

const Mistake all_mistakes[] = {
    {"UnknownKey", "model: mlp\nmeasur: {rounds: 3}\n", "2:1: error: ", "did you mean 'measure'"},
    {"UnknownNestedKey", "model: mlp\ntrain:\n  btach: 3\n", "3:3: error: unknown key 'btach' in 'train'", "'batch'"},
    {"KeyWithADot", "model: mlp\ntrain.batch: 3\n", "2:1: error: unknown key 'train.batch'", ""},
    {"KeyTwice", "model: mlp\nseed: 1\nseed: 2\n", "3:1: error: key 'seed' stands twice", "line 2"},
    {"WrongType", "model: mlp\nmeasure: {rounds: many}\n", "2:19: error: ", "expects an integer, got 'many'"},
    {"Fraction", "model: mlp\nmeasure: {rounds: 1.5}\n", "2:19: error: ", "expects an integer"},
    {"ListForValue", "model: mlp\nseed: [1]\n", "2:7: error: seed expects a value, got a list", ""},
    {"NothingForValue", "model: mlp\nseed:\n", "2:1: error: ", "seed expects a value, got nothing"},
    {"ValueForSection", "model: mlp\ntrain: 3\n", "2:8: error: 'train' expects a map", ""},
    {"OutOfRange", "model: mlp\ntrain: {batch: 0}\n", "2:16: error: train.batch must be", "got 0"},
    {"HugeNumber", "model: mlp\ntrain: {batch: 99999999999999999999}\n", "2:16: error: ", "train.batch"},
    {"WrongChoice", "model: mlp\ncommunication: {engine: thraed}\n", "2:25: error: ", "did you mean 'thread'"},
    {"WrongSize", "model: mlp\ncommunication: {bucket: 4X}\n", "2:25: error: ", "a size such as 64K"},
    {"UnknownVariant", "model: mlp\ncommunication: {collective: rign}\n", "2:29: error: ", "did you mean 'ring'"},
    {"UnknownParameter", "model: mlp\ncommunication: {collective: {direct: {frm: one_shot}}}\n",
     "2:39: error: ", "did you mean 'form'"},
    {"WrongParameter", "model: mlp\ncommunication: {collective: direct(form=no_shot)}\n", "2:29: error: form", ""},
    {"TwoVariants", "model: mlp\ncommunication: {collective: {ring: , tree: }}\n", "2:29: error: ", "one variant"},
    {"SweptVariant", "model: mlp\nsweep:\n  communication.collective: [ring, treee]\n",
     "3:36: error: ", "did you mean 'tree'"},
    {"SweptUnknownKey", "model: mlp\nsweep: {train.btach: [1]}\n", "2:9: error: unknown key 'train.btach' in 'sweep'",
     "did you mean 'train.batch'"},
    {"SweptKeyOfTheRun", "model: mlp\nsweep: {seed: [1, 2]}\n", "2:9: error: 'seed' is one for the whole run",
     "(set it outside of 'sweep')"},
    {"SweptOutOfRange", "model: mlp\nsweep: {train.batch: [1, 0]}\n", "2:26: error: train.batch must be", ""},
    {"SweptTwice", "model: mlp\nsweep: {train.batch: [1, 1]}\n", "2:26: error: the sweep has ", "twice"},
    {"SweepOfNothing", "model: mlp\nsweep: {train.batch: []}\n", "2:22: error: ", "a list of values"},
    {"UnknownModel", "model: mpl\n", "1:8: error: unknown model 'mpl'", "did you mean 'mlp'"},
    {"UnknownModelParameter", "model: {kind: mlp, wdith: 3}\n", "1:20: error: ", "did you mean 'width'"},
    {"NoModel", "seed: 1\n", "1:1: error: 'model' is missing", "model: mlp"},
    {"NoKind", "model: {width: 3}\n", "1:8: error: 'model' has no 'kind'", ""},
    {"Empty", "", "1:1: error: 'model' is missing", ""},
    {"NotAMap", "- model\n", "1:1: error: a config is a map of keys, got a list", "model: mlp"},
    {"NoMultiple", "model: {kind: transformer, width: 7, heads: 2}\n",
     "1:8: error: ", "width 7 is no multiple of heads 2 (such as width: 8)"},
    {"BadLayer", "model: {kind: layers, layers: [{flops: x}]}\n", "1:40: error: flops expects a number", ""},
    {"UnknownDataset", "model: mlp\ndata: {kind: txet}\n", "2:14: error: unknown dataset 'txet'", "'text'"},
    {"UnknownDataParameter", "model: mlp\ndata: {kind: synthetic, smaples: 3}\n", "2:25: error: ", "'samples'"},
    {"RankTwice", "model: mlp\ncommunication: {rank_order: [0, 0]}\n",
     "2:33: error: ", "has 0 twice (each of 0 .. ranks - 1 once)"},
    {"NameOfAFolder", "model: mlp\nname: ../../etc\n", "2:7: error: name '../../etc' cannot name a folder",
     "(at most 64 letters"},
    {"WorkloadsNoList", "model: mlp\nworkloads: 3\n", "2:12: error: ", "a list of maps (such as"},
    {"WorkloadOfTheRun", "workloads: [{model: mlp, measure: {rounds: 3}}]\n", "1:26: error: ", "for the whole run"},
    {"WorkloadTwice", "workloads:\n - {model: mlp}\n - {model: mlp}\n",
     "3:4: error: ", "two workloads are named 'mlp' (give each a name)"},
    {"WorkloadNamedTwice", "model: mlp\nworkloads:\n - {name: a}\n - {train: {batch: 3}, name: a}\n",
     "4:30: error: ", "two workloads are named 'a'"},
    {"WorkloadNamedBadly", "model: mlp\nworkloads:\n - {name: a/b}\n", "3:11: error: ", "'a/b' (at most 64"},
    {"UnknownQuantity", "model: mlp\nassert: {step: '< 3'}\n", "2:10: error: unknown quantity 'step'", "step_us"},
    {"NoComparison", "model: mlp\nassert: {step_us: 3}\n", "2:19: error: bound '3' does not begin", ""},
    {"NoBounds", "model: mlp\nassert: {library.step_us: []}\n", "2:27: error: a bound expects a text",
     "such as library.step_us"},
    {"NoBound", "model: mlp\nassert: {step_us: '< x'}\n", "2:19: error: a bound expects a number", ""},
    {"UnknownPoint", "model: mlp\nassert: {rign.step_us: '< 3'}\n", "2:10: error: 'assert' names a point 'rign'",
     "'ring'"},
    {"TwoSleeps", "model: mlp\nplant: {sleep_s: 1, slow_rank_s: 1}\n", "2:", "exclude each other"},
    {"BrokenYaml", "model: [mlp\n", "", "(look for brackets"},
    {"Anchor", "model: &a mlp\n", "1:", "an anchor"},
    {"Alias", "model: *a\n", "1:", ""},
    {"Tag", "model: !!binary mlp\n", "1:", "a tag"},
    {"TwoDocuments", "model: mlp\n---\nmodel: mlp\n", "2:", "a second document"},
    {"MapAsKey", "{a: b}: c\n", "1:", "a key"},
    {"NotUtf8", "model: mlp\nname: \xff\n", "2:7: error: a byte that is not UTF-8", ""},
    {"Overlong", "\xc0\x80", "1:1: error: ", "not UTF-8"},
};
INSTANTIATE_TEST_SUITE_P(Each, WrongConfig, testing::ValuesIn(all_mistakes),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(ConfigErrors, AllAreListedInTheOrderOfTheFile) {
  const std::string lines = mistakes("modle: mlp\nseed: x\ntrain: {batch: 0, btach: 1}\n");
  EXPECT_EQ(lines.rfind("c.yaml:1:1: error: ", 0), 0U) << lines;
  EXPECT_LT(lines.find("c.yaml:2:7: error: "), lines.find("c.yaml:3:16: error: ")) << lines;
  EXPECT_LT(lines.find("c.yaml:3:16: error: "), lines.find("c.yaml:3:19: error: ")) << lines;
}

TEST(ConfigErrors, AMistakeInTheBaseIsNamedOnceHoweverManyPointsThereAre) {
  const std::string lines = mistakes("model: mlp\nsede: 1\nsweep: {train.batch: [1, 2, 3]}\n");
  EXPECT_EQ(lines.find("sede"), lines.rfind("sede"));
}

TEST(ConfigErrors, AMistakeInASweptModelIsNamedOnceWhateverTheModelsDefaultsAre) {
  const std::string lines = mistakes("model: mlp\nsweep: {model: [mlp, transformer], model.width: [0]}\n");
  EXPECT_TRUE(has(lines, "width must be in 1..65536, got 0"));
  EXPECT_EQ(lines.find("width must"), lines.rfind("width must")) << lines;
}

TEST(ConfigErrors, AZeroByteIsRefused) {
  EXPECT_TRUE(has(mistakes(std::string("model: mlp\0", 11)), "1:11: error: a zero byte"));
}

TEST(ConfigErrors, DepthSizeAndCountAreBounded) {
  EXPECT_TRUE(
      has(mistakes("a: " + std::string(300, '[') + std::string(300, ']')), "nested deeper than 24 (is a bracket"));
  EXPECT_TRUE(has(mistakes("a: " + std::string(100000, '{')), "c.yaml:1:"));
  EXPECT_TRUE(has(mistakes(std::string(largest_yaml_bytes + 1, ' ')), "larger than 256 KiB (a config is"));
  EXPECT_TRUE(has(mistakes("a: " + std::string(100000, '[')), "c.yaml:1:"));
  std::string many = "a: [";
  for (int i = 0; i < 30000; ++i) many += "1,";
  EXPECT_TRUE(has(mistakes(many + "1]"), "more than 20000 values"));
  EXPECT_TRUE(has(mistakes("a: &a [x]\nb: &b [*a, *a]\n"), "an anchor"));
}

TEST(ConfigErrors, EveryComplaintIsOneShortLine) {
  try {
    read_text("\"a\\nb\": 1\nmodel: mlp\n\"" + std::string(900, 'x') + "\": 1\n");
    FAIL() << "unknown keys pass";
  } catch (const UserError& error) {
    ASSERT_EQ(error.complaints().size(), 2U);
    for (const Complaint& complaint : error.complaints()) {
      EXPECT_EQ(complaint.line().find('\n'), std::string::npos);
      EXPECT_LT(complaint.line().size(), 1000U);
    }
  }
}

TEST(ConfigErrors, ALargeSweepIsRefusedBeforeItIsMade) {
  std::string values = "0";
  for (int i = 1; i < 100; ++i) values += ", " + std::to_string(i);
  EXPECT_TRUE(
      has(mistakes("model: mlp\nsweep:\n  train.weight_decay: [" + values + "]\n  train.clip_norm: [" + values + "]\n"),
          "more than 512 points"));
}

TEST(ConfigErrors, OverridesAreNamed) {
  EXPECT_TRUE(has(mistakes("model: mlp\n", {"train.batch=-3"}), "--set train.batch=-3: error: train.batch must be"));
  EXPECT_TRUE(has(mistakes("model: mlp\n", {"train.btach=3"}), "did you mean 'batch'"));
  EXPECT_TRUE(has(mistakes("model: mlp\n", {"seed"}), "expects dotted.key=value (such as --set "));
  EXPECT_TRUE(has(mistakes("model: mlp\n", {"seed=[1"}), "--set seed=[1: error: broken YAML"));
}

TEST(ConfigErrors, AMissingFileIsNamed) {
  try {
    load_config("no-such-folder/missing.yaml", {});
    FAIL() << "a missing file passes";
  } catch (const UserError& error) {
    EXPECT_EQ(error.complaints().front().line(),
              "no-such-folder/missing.yaml: error: no such file (relative paths stand from the working directory)");
  }
}

/// The complaint about a config, or about a model that it names, as somebody who is not root.
std::string complaint_of_a_stranger(const std::string& file) {
  const bool root = geteuid() == 0;
  if (root && seteuid(65534) != 0) return "cannot become nobody";
  std::string line = "no complaint";
  try {
    load_config(file, {});
  } catch (const UserError& error) {
    line = error.complaints().front().line();
  }
  if (root && seteuid(0) != 0) std::abort();
  return line;
}

TEST(ConfigErrors, AFileThatMayNotBeReadIsNamedWithTheReason) {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "ringmaster_config_XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  fs::permissions(folder, fs::perms::all);
  fs::create_directory(folder + "/models");
  const std::string config = folder + "/c.yaml";
  const std::string model = folder + "/models/own.yaml";
  std::ofstream(config) << "model: own\n";
  std::ofstream(model) << "kind: mlp\n";
  fs::permissions(model, fs::perms::none);
  EXPECT_EQ(complaint_of_a_stranger(config).rfind(model + ": error: cannot be read: Permission denied (", 0), 0U);
  fs::permissions(config, fs::perms::none);
  EXPECT_EQ(complaint_of_a_stranger(config).rfind(config + ": error: cannot be read: Permission denied (", 0), 0U);
  fs::permissions(folder, fs::perms::none);
  EXPECT_EQ(complaint_of_a_stranger(config).rfind(config + ": error: cannot be read: Permission denied (", 0), 0U);
  fs::permissions(folder, fs::perms::all);
  EXPECT_EQ(complaint_of_a_stranger(folder).rfind(folder + ": error: cannot be read: it is no plain file (", 0), 0U);
  fs::remove_all(folder);
}

TEST(ConfigErrors, AMissingDataPathIsNamedWithItsPlace) {
  ConfigFiles files;
  files.exists = [](const std::string&) { return false; };
  try {
    parse_config("model: mlp\ndata: {path: nowhere}\n", "folder/c.yaml", {}, files);
    FAIL() << "a missing path passes";
  } catch (const UserError& error) {
    EXPECT_EQ(error.complaints().front().line().rfind(
                  "folder/c.yaml:2:14: error: data.path: 'folder/nowhere' does not exist", 0),
              0U);
  }
}

}  // namespace
}  // namespace ringmaster::experiment
