// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.hpp"
#include "data/dataset.hpp"

namespace ringmaster::data {
namespace {

namespace fs = std::filesystem;

class Text : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "ringmaster_text_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& content) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }
  std::string folder() const { return folder_.string(); }

  static std::unique_ptr<Dataset> open(const std::string& path, std::int64_t length, double held_out = 0.05) {
    DataChoice choice;
    choice.kind = "text";
    choice.path = path;
    choice.parameters.set("held_out", held_out);
    return make_dataset(choice, SampleShape{true, length, 256, 0});
  }
  static std::string message(const std::string& path, std::int64_t length) {
    try {
      open(path, length);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }
  /// Root may read everything: the message that somebody else gets.
  static std::string message_to_a_stranger(const std::string& path, std::int64_t length) {
    const bool root = geteuid() == 0;
    if (root && seteuid(65534) != 0) return "cannot become nobody";
    std::string text = message(path, length);
    if (root && seteuid(0) != 0) std::abort();
    return text;
  }
  static std::string tokens_of(const Dataset& data, std::int64_t sample) {
    Batch batch;
    batch.reserve(data.shape(), 2);
    data.fill(sample, 1, batch);
    std::string text;
    for (std::int64_t i = 0; i < data.shape().length; ++i) {
      text += static_cast<char>(batch.tokens[static_cast<std::size_t>(data.shape().length + i)]);
    }
    text += '>';
    for (std::int64_t i = 0; i < data.shape().length; ++i) {
      text += static_cast<char>(batch.targets[static_cast<std::size_t>(data.shape().length + i)]);
    }
    return text;
  }

 private:
  fs::path folder_;
};

TEST_F(Text, CutsWindowsWhoseTargetsAreTheNextBytes) {
  const auto data = open(write("a.txt", "abcdefghijklm"), 4, 0);
  EXPECT_EQ(data->size(), 3);
  EXPECT_EQ(data->held_out_size(), 0);
  EXPECT_EQ(tokens_of(*data, 0), "abcd>bcde");
  EXPECT_EQ(tokens_of(*data, 2), "ijkl>jklm");
}

TEST_F(Text, JoinsFilesInTheOrderOfRelativePaths) {
  write("b.txt", "3456");
  write("a/z.txt", "12");
  write("a/b/c.txt", "0");
  write("c", "789");  // no newline anywhere, and none is added
  const auto data = open(folder(), 9, 0);
  EXPECT_EQ(data->size(), 1);
  EXPECT_EQ(tokens_of(*data, 0), "012345678>123456789");
}

TEST_F(Text, SkipsEmptyBinaryHiddenAndRepeatedFilesAndSaysSo) {
  write("a.txt", "0123456789");
  write("empty.txt", "");
  write("binary.bin", std::string("ab\0cd", 5));
  write(".git/config", "secret");
  fs::create_symlink(fs::path(folder()) / "a.txt", fs::path(folder()) / "b.txt");
  fs::create_symlink(fs::path(folder()) / "nowhere", fs::path(folder()) / "dangling.txt");
  const auto data = open(folder(), 3, 0);
  EXPECT_EQ(data->size(), 3);
  EXPECT_EQ(tokens_of(*data, 2), "678>789");
  EXPECT_NE(data->describe().find("1 file,"), std::string::npos) << data->describe();
  EXPECT_NE(data->describe().find("1 binary, 1 empty, 1 hidden, 1 repeated"), std::string::npos) << data->describe();
}

TEST_F(Text, HoldsTheTailOut) {
  std::string content;
  for (int i = 0; i < 1001; ++i) content += static_cast<char>('a' + i % 26);
  const auto data = open(write("a.txt", content), 10);
  EXPECT_EQ(data->size(), 95);
  EXPECT_EQ(data->held_out_size(), 5);
  EXPECT_EQ(tokens_of(*data, 99).substr(0, 10), content.substr(990, 10));
  const auto tiny = open(write("tiny.txt", "123456789"), 4);
  EXPECT_EQ(tiny->size(), 1);
  EXPECT_EQ(tiny->held_out_size(), 1);  // never none of either
}

TEST_F(Text, KeepsBytesAbove127AsTokens) {
  const auto data = open(write("a.txt", "\xc3\xa9\xff"), 2, 0);
  Batch batch;
  batch.reserve(data->shape(), 1);
  data->fill(0, 0, batch);
  EXPECT_EQ(batch.tokens, (std::vector<std::int32_t>{0xc3, 0xa9}));
  EXPECT_EQ(batch.targets, (std::vector<std::int32_t>{0xa9, 0xff}));
}

TEST_F(Text, KnowsTheEntropyOfItsBytes) {
  const auto uniform = open(write("a.txt", "abcdabcdabcdabcd"), 4);
  EXPECT_NEAR(uniform->unigram_entropy(), std::log(4.0), 1e-12);
  const auto constant = open(write("b.txt", std::string(100, 'x')), 4);
  EXPECT_NEAR(constant->unigram_entropy(), 0, 1e-12);
}

TEST_F(Text, NamesThePlaceOfWhatIsWrong) {
  const std::string missing = folder() + "/missing";
  EXPECT_NE(message(missing, 4).find(missing + ": error: no such file or folder"), std::string::npos)
      << message(missing, 4);
  const std::string small = write("small/a.txt", "12345678");
  EXPECT_NE(message(small, 4).find("8 bytes in 1 files, but samples of 4 bytes need at least 9"), std::string::npos)
      << message(small, 4);
  write("odd/empty", "");
  write("odd/binary", std::string(20, '\0'));
  const std::string odd = message(folder() + "/odd", 4);
  EXPECT_NE(odd.find("0 bytes"), std::string::npos) << odd;
  EXPECT_NE(odd.find("1 binary, 1 empty"), std::string::npos) << odd;
  EXPECT_NE(message("", 4).find("needs a path"), std::string::npos);
  EXPECT_NE(message("/dev/null", 4).find("neither a file nor a folder"), std::string::npos);
}

TEST_F(Text, SurvivesLoopsPipesAndLinksToFoldersInsideAFolder) {
  write("a.txt", "0123456789");
  fs::create_directory_symlink(folder(), fs::path(folder()) / "again");
  fs::create_symlink("two", fs::path(folder()) / "one");
  fs::create_symlink("one", fs::path(folder()) / "two");
  ASSERT_EQ(mkfifo((folder() + "/pipe").c_str(), 0600), 0);  // opening one to read would never return
  const auto data = open(folder(), 3, 0);
  EXPECT_EQ(data->size(), 3);
  EXPECT_NE(data->describe().find("1 file,"), std::string::npos) << data->describe();
}

TEST_F(Text, SaysInOneLineWhyAPathCannotBeRead) {
  fs::create_symlink("two", fs::path(folder()) / "one");
  fs::create_symlink("one", fs::path(folder()) / "two");
  const std::string loop = message(folder() + "/one", 4);
  EXPECT_NE(loop.find("one: error: cannot be read: "), std::string::npos) << loop;
  const std::string long_name = message(folder() + "/" + std::string(5000, 'x'), 4);
  EXPECT_NE(long_name.find("error: cannot be read: "), std::string::npos) << long_name.substr(0, 80);
  const std::string binary = message(write("program", std::string(100, '\0')), 4);
  EXPECT_NE(binary.find("skipped: 1 binary"), std::string::npos) << binary;
  for (const std::string& line : {loop, long_name, binary}) EXPECT_EQ(line.find('\n'), std::string::npos) << line;
}

TEST_F(Text, NamesAFileOrFolderThatItMayNotRead) {
  const std::string file = write("closed/a.txt", "0123456789");
  ASSERT_EQ(chmod(file.c_str(), 0), 0);
  ASSERT_EQ(chmod(folder().c_str(), 0755), 0);
  EXPECT_NE(message_to_a_stranger(folder() + "/closed", 3).find("a.txt: error: cannot be read: "), std::string::npos);
  ASSERT_EQ(chmod((folder() + "/closed").c_str(), 0), 0);
  EXPECT_NE(message_to_a_stranger(folder() + "/closed", 3).find("closed: error: cannot be listed: "),
            std::string::npos);
  ASSERT_EQ(chmod((folder() + "/closed").c_str(), 0700), 0);
}

TEST_F(Text, RefusesModelsThatReadNoBytes) {
  DataChoice choice;
  choice.path = write("a.txt", "some text that is long enough");
  EXPECT_THROW(make_dataset(choice, SampleShape{false, 4, 0, 2}), UserError);
  EXPECT_THROW(make_dataset(choice, SampleShape{true, 4, 100, 0}), UserError);
  choice.parameters.set("held_outt", 0.1);
  EXPECT_THROW(make_dataset(choice, SampleShape{true, 4, 256, 0}), UserError);
  choice.kind = "texts";
  EXPECT_THROW(make_dataset(choice, SampleShape{true, 4, 256, 0}), UserError);
}

}  // namespace
}  // namespace ringmaster::data
