// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "training.hpp"
#include "transport/threads.hpp"

namespace ringmaster::parallel {
namespace {

namespace fs = std::filesystem;
using test::Rank;
using test::small_options;

class CheckpointFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "ringmaster_checkpoint_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string content(const std::string& name) {
    std::ifstream file(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void write(const std::string& name, const std::string& text) {
    std::ofstream(name, std::ios::binary | std::ios::trunc) << text;
  }
  static std::string message(const std::string& name) {
    try {
      read_checkpoint(name);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }
  static Checkpoint sample() {
    Checkpoint checkpoint;
    checkpoint.identity = "0123abcd";
    checkpoint.step = 12;
    checkpoint.loader.batches = 36;
    for (int i = 0; i < 100; ++i) checkpoint.trainer.push_back(static_cast<std::byte>(i));
    return checkpoint;
  }

  fs::path folder_;
};

TEST_F(CheckpointFile, ComesBackAsItWasWritten) {
  write_checkpoint(path("a"), sample());
  write_checkpoint(path("a"), sample());  // over an older one
  const Checkpoint read = read_checkpoint(path("a"));
  EXPECT_EQ(read.identity, sample().identity);
  EXPECT_EQ(read.step, 12);
  EXPECT_EQ(read.loader.batches, 36);
  EXPECT_EQ(read.trainer, sample().trainer);
  EXPECT_FALSE(fs::exists(path("a.partial")));
  write_checkpoint(path("empty"), {});
  EXPECT_TRUE(read_checkpoint(path("empty")).trainer.empty());
}

TEST_F(CheckpointFile, IsRefusedWhereverItIsTornOrDamaged) {
  write_checkpoint(path("a"), sample());
  const std::string whole = content(path("a"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write(path("b"), whole.substr(0, size));
    EXPECT_THROW(read_checkpoint(path("b")), UserError) << size;
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    write(path("b"), damaged);
    EXPECT_THROW(read_checkpoint(path("b")), UserError) << i;
  }
  write(path("b"), whole + "x");
  EXPECT_NE(message(path("b")).find("b: error: checkpoint is damaged"), std::string::npos) << message(path("b"));
}

TEST_F(CheckpointFile, NamesWhatIsNoCheckpointInOneLine) {
  write(path("text"), "just some text that is long enough to hold a checkpoint, but is none at all\n");
  for (const std::string& name : {path("text"), path("missing"), folder_.string()}) {
    const std::string line = message(name);
    EXPECT_EQ(line.rfind(name + ": error: ", 0), 0U) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
}

TEST_F(CheckpointFile, ThatCannotBeWrittenLeavesTheOldOneWhole) {
  EXPECT_THROW(write_checkpoint(path("no/such/folder"), sample()), SystemError);
  write_checkpoint(path("a"), sample());
  fs::create_directory(path("a.partial"));  // the way is blocked
  EXPECT_THROW(write_checkpoint(path("a"), Checkpoint{}), SystemError);
  EXPECT_EQ(read_checkpoint(path("a")).step, 12);
}

/// 5 steps, a checkpoint on disk, new objects, 5 more: the bits of 10 steps in one go.
TEST_F(CheckpointFile, RestartsBitForBit) {
  for (const auto kind : {model::OptimizerKind::sgd, model::OptimizerKind::adamw}) {
    DataParallelOptions options = small_options();
    options.optimizer.kind = kind;
    options.micro_batches = 2;
    options.clip_norm = 0.5;
    transport::run_as_threads(3, [&](transport::ProcessGroup& group) {
      Rank unbroken(group, options);
      const std::vector<double> losses = unbroken.steps(10);
      const std::string file = path("rank" + std::to_string(group.rank()));
      {
        Rank first(group, options);
        first.steps(5);
        Checkpoint checkpoint;
        checkpoint.step = first.trainer->steps_done();
        checkpoint.loader = first.loader.state();
        checkpoint.trainer = first.trainer->save();
        write_checkpoint(file, checkpoint);
      }
      Rank second(group, options);
      const Checkpoint checkpoint = read_checkpoint(file);
      second.loader.restore(checkpoint.loader);
      second.trainer->restore(checkpoint.trainer);
      EXPECT_EQ(second.trainer->steps_done(), 5);
      const std::vector<double> rest = second.steps(5);
      EXPECT_EQ(std::vector<double>(losses.begin() + 5, losses.end()), rest);
      EXPECT_EQ(second.trainer->parameter_hash(), unbroken.trainer->parameter_hash());
      EXPECT_EQ(second.trainer->save(), unbroken.trainer->save());
    });
  }
}

TEST_F(CheckpointFile, OfAnotherModelOrOptimizerIsRefusedAndChangesNothing) {
  transport::run_as_threads(1, [&](transport::ProcessGroup& group) {
    DataParallelOptions options = small_options();
    Rank sgd(group, options);
    options.optimizer.kind = model::OptimizerKind::adamw;
    Rank adamw(group, options);
    const std::uint64_t before = sgd.trainer->parameter_hash();
    std::vector<std::byte> state = sgd.trainer->save();
    EXPECT_THROW(sgd.trainer->restore(adamw.trainer->save()), UserError);
    EXPECT_THROW(sgd.trainer->restore({}), UserError);
    EXPECT_THROW(sgd.trainer->restore(std::span(state).first(state.size() - 1)), UserError);
    state[0] = std::byte{0};
    EXPECT_THROW(sgd.trainer->restore(state), UserError);
    EXPECT_EQ(sgd.trainer->parameter_hash(), before);
  });
}

}  // namespace
}  // namespace ringmaster::parallel
