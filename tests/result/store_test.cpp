// SPDX-License-Identifier: Apache-2.0
// What is stored comes back, and what goes wrong (a kill, a full disk, a damaged file) costs no more than it must.
#include "result/store.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <limits>

#include "base/error.hpp"
#include "base/log.hpp"
#include "sample_run.hpp"
#include "temporary_folder.hpp"

namespace ringmaster::result {
namespace {

Store store_whole(const std::string& folder, const Run& run) {
  Store store = Store::create(folder, false);
  store.write(run);
  for (const Block& block : run.blocks) store.append(block);
  for (const PointEnd& end : run.ends) store.append(end);
  for (const BenchRow& row : run.rows) store.append(row);
  return store;
}

template <class Body>
std::string complaint_of(const Body& body) {
  try {
    body();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no complaint";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Store, GivesBackEveryMember) {
  const TemporaryFolder temporary;
  const result::Run run = sample_run();
  store_whole(temporary.path("run"), run);
  EXPECT_EQ(to_json_complete(read_run(temporary.path("run"))), to_json_complete(run));
  EXPECT_EQ(to_json_complete(read_run(temporary.path("run") + "/run.json")), to_json_complete(run));
}

TEST(Store, KnowsTheBaselineOfRowsThatWereWrittenBeforeTheyHadARole) {
  int benches = 0;
  const std::filesystem::path published = std::filesystem::path(RINGMASTER_SOURCE_DIR) / "results" / "reference";
  for (const auto& folder : std::filesystem::directory_iterator(published)) {
    if (!folder.is_directory()) continue;
    const result::Run run = read_run(folder.path().string());
    if (run.kind != "bench") continue;
    ++benches;
    for (const BenchRow& row : run.rows) {
      EXPECT_EQ(row.role, row.variant == "library" ? "baseline" : "variant") << folder.path();
    }
    EXPECT_FALSE(run.rows.empty());
  }
  EXPECT_GT(benches, 0);
}

TEST(Store, KeepsALossThatIsNotANumber) {
  const TemporaryFolder temporary;
  result::Run run = sample_run();
  run.blocks[0].loss = {std::numeric_limits<double>::quiet_NaN(), 1.0};
  store_whole(temporary.path("run"), run);
  const result::Run back = read_run(temporary.path("run"));
  EXPECT_TRUE(std::isnan(back.blocks[0].loss[0]));
  EXPECT_EQ(back.blocks[0].loss[1], 1.0);
}

TEST(Store, WritesTextThatIsNoUtf8) {
  const TemporaryFolder temporary;
  result::Run run = sample_run();
  run.arguments = {"run", "caf\xe9.yaml"};
  store_whole(temporary.path("run"), run);
  EXPECT_TRUE(contains(read_run(temporary.path("run")).arguments[1], "caf"));
}

TEST(Store, DropsATornLastLineAndResumeWritesAfterTheWholeOnes) {
  const TemporaryFolder temporary;
  result::Run run = sample_run();
  store_whole(temporary.path("run"), run);
  const std::string file = temporary.path("run/samples.jsonl");
  const std::string before = read_whole(file);
  write_whole(file, before + before.substr(0, 60));
  EXPECT_EQ(read_run(temporary.path("run")).blocks.size(), run.blocks.size());
  {
    Store store = Store::resume(temporary.path("run"));
    store.append(sample_block(0, 1));
  }
  const result::Run back = read_run(temporary.path("run"));
  ASSERT_EQ(back.blocks.size(), run.blocks.size() + 1);
  EXPECT_EQ(back.blocks.back().round, 1);
}

// Whatever byte a kill stops at, every line before it is read.
TEST(Store, IsReadableWhereverAKillCutsTheSamples) {
  const TemporaryFolder temporary;
  store_whole(temporary.path("run"), sample_run());
  const std::string file = temporary.path("run/samples.jsonl");
  const std::string whole = read_whole(file);
  configure_log(LogLevel::error, 0);  // not a warning for each cut
  for (std::size_t cut = 0; cut <= whole.size(); cut += 37) {
    write_whole(file, whole.substr(0, cut));
    const result::Run back = read_run(temporary.path("run"));
    const auto lines = std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut), '\n');
    EXPECT_EQ(back.blocks.size() + back.ends.size() + back.rows.size(), static_cast<std::size_t>(lines)) << cut;
  }
  configure_log(LogLevel::info, 0);
}

TEST(Store, NamesTheLineThatIsDamaged) {
  const TemporaryFolder temporary;
  store_whole(temporary.path("run"), sample_run());
  const std::string file = temporary.path("run/samples.jsonl");
  std::string text = read_whole(file);
  text.insert(text.find('\n') + 5, "\"}");
  write_whole(file, text);
  const std::string complaint = complaint_of([&] { read_run(temporary.path("run")); });
  EXPECT_TRUE(contains(complaint, "samples.jsonl:2: error: ")) << complaint;
}

TEST(Store, NamesTheKeyOfAWrongType) {
  const TemporaryFolder temporary;
  store_whole(temporary.path("run"), sample_run());
  const std::string file = temporary.path("run/samples.jsonl");
  std::string text = read_whole(file);
  text.replace(text.find("\"round\":0"), 9, "\"round\":[]");
  write_whole(file, text);
  const std::string complaint = complaint_of([&] { read_run(temporary.path("run")); });
  EXPECT_TRUE(contains(complaint, "samples.jsonl:1: error: key 'round' expects an integer, got array")) << complaint;
}

TEST(Store, RefusesSamplesOfAnotherRun) {
  const TemporaryFolder temporary;
  result::Run run = sample_run();
  run.blocks = {sample_block(7, 0)};
  store_whole(temporary.path("run"), run);
  const std::string complaint = complaint_of([&] { read_run(temporary.path("run")); });
  EXPECT_TRUE(contains(complaint, "is about point 7, but run.json has 2 points")) << complaint;
}

TEST(Store, SaysWhichSchemaVersionItNeeds) {
  const TemporaryFolder temporary;
  result::Run run = sample_run();
  run.version = schema_version + 1;
  store_whole(temporary.path("run"), run);
  const std::string complaint = complaint_of([&] { read_run(temporary.path("run")); });
  EXPECT_TRUE(contains(complaint, "has schema version 2; this program reads 1 to 1")) << complaint;
  EXPECT_TRUE(contains(complaint, "newer ringmaster")) << complaint;
}

TEST(Store, ReadsAFileThatLacksLaterKeys) {
  const TemporaryFolder temporary;
  write_whole(temporary.path("run.json"), R"({"schema_version": 1, "name": "old", "something_newer": 3})");
  const result::Run run = read_run(temporary.path());
  EXPECT_EQ(run.name, "old");
  EXPECT_TRUE(run.blocks.empty());
}

TEST(Store, SaysWhenThereIsNoRun) {
  const TemporaryFolder temporary;
  EXPECT_TRUE(contains(complaint_of([&] { read_run(temporary.path("nothing")); }), "no run there"));
  write_whole(temporary.path("run.json"), "{ not json");
  EXPECT_TRUE(contains(complaint_of([&] { read_run(temporary.path()); }), "is no JSON object"));
  write_whole(temporary.path("run.json"), "{}");
  EXPECT_TRUE(contains(complaint_of([&] { read_run(temporary.path()); }), "has no schema_version"));
}

TEST(Store, NeverOverwritesAFinishedRunUnasked) {
  const TemporaryFolder temporary;
  result::Run run = sample_run();
  run.status = "complete";
  store_whole(temporary.path("run"), run).write_file("summary.csv", "old");
  EXPECT_TRUE(contains(complaint_of([&] { Store::create(temporary.path("run"), false); }), "holds a finished run"));
  EXPECT_TRUE(contains(complaint_of([&] { Store::resume(temporary.path("run")); }), "nothing to go on with"));
  EXPECT_EQ(read_run(temporary.path("run")).blocks.size(), run.blocks.size());
  Store::create(temporary.path("run"), true);
  EXPECT_EQ(read_whole(temporary.path("run/samples.jsonl")), "");
  EXPECT_FALSE(std::filesystem::exists(temporary.path("run/summary.csv")));
}

TEST(Store, KeepsAnUnfinishedRunUnlessNothingWasMeasured) {
  const TemporaryFolder temporary;
  result::Run run = sample_run();
  store_whole(temporary.path("run"), run);
  EXPECT_TRUE(contains(complaint_of([&] { Store::create(temporary.path("run"), false); }), "--resume"));
  write_whole(temporary.path("run/samples.jsonl"), "");
  EXPECT_EQ(complaint_of([&] { Store::create(temporary.path("run"), false); }), "no complaint");
}

TEST(Store, RefusesAFolderOfOtherFiles) {
  const TemporaryFolder temporary;
  write_whole(temporary.path("thesis.tex"), "years of work");
  EXPECT_TRUE(contains(complaint_of([&] { Store::create(temporary.path(), false); }), "holds other files"));
  EXPECT_TRUE(contains(complaint_of([&] { Store::create(temporary.path("thesis.tex"), false); }), "is no folder"));
  EXPECT_EQ(read_whole(temporary.path("thesis.tex")), "years of work");
}

TEST(Store, AddsTheInterruptionsOfSeveralRanksAtOnce) {
  const TemporaryFolder temporary;
  result::Run run = sample_run();
  run.interruptions.clear();
  store_whole(temporary.path("run"), run);
  constexpr int ranks = 16;
  for (int rank = 0; rank < ranks; ++rank) {
    if (::fork() == 0) {
      merge_interruption(temporary.path("run"), {rank, "alpha", "SIGTERM", "forward"});
      ::_exit(0);
    }
  }
  for (int rank = 0; rank < ranks; ++rank) ::wait(nullptr);
  const result::Run back = read_run(temporary.path("run"));
  EXPECT_EQ(back.status, "interrupted");
  EXPECT_EQ(back.interruptions.size(), static_cast<std::size_t>(ranks));
  EXPECT_EQ(back.blocks.size(), run.blocks.size());
}

TEST(Store, ARankThatGoesOnDoesNotEraseWhatADyingOneRecorded) {
  const TemporaryFolder temporary;
  result::Run run = sample_run();
  run.interruptions.clear();
  Store store = store_whole(temporary.path("run"), run);
  merge_interruption(temporary.path("run"), {2, "beta", "SIGTERM", "backward"});
  store.write(run);
  const result::Run back = read_run(temporary.path("run"));
  EXPECT_EQ(back.status, "interrupted");
  ASSERT_EQ(back.interruptions.size(), 1U);
  EXPECT_EQ(back.interruptions[0].rank, 2);
  result::Run resumed = back;
  resumed.status = "running";
  store.write(resumed);
  EXPECT_EQ(read_run(temporary.path("run")).status, "running") << "a resumed run knows what it goes on from";
}

TEST(Store, ADamagedTraceCostsOnlyTheTimeline) {
  const TemporaryFolder temporary;
  store_whole(temporary.path("run"), sample_run()).write_file("trace.json", "{\"traceEvents\": [");
  configure_log(LogLevel::error, 0);
  EXPECT_EQ(read_run(temporary.path("run")).blocks.size(), sample_run().blocks.size());
  configure_log(LogLevel::info, 0);
}

// A limit on the size of files stands in for a full disk: the same write fails, halfway through a record.
TEST(Store, AFullDiskIsAClearErrorAndLosesNothingEarlier) {
  const TemporaryFolder temporary;
  const std::string folder = temporary.path("run");
  result::Run run = sample_run();
  run.blocks.resize(1);
  run.ends.clear();
  run.rows.clear();
  Store store = store_whole(folder, run);
  const std::string run_json = read_whole(folder + "/run.json");
  const std::string samples = read_whole(folder + "/samples.jsonl");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit full = before;
  full.rlim_cur = samples.size() + 100;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  std::string reason;
  std::string reason_of_file;
  try {
    store.append(sample_block(1, 0));
  } catch (const SystemError& error) {
    reason = error.what();
  }
  try {
    store.write_file("run.json", std::string(10 * samples.size() + 1000, 'x'));
  } catch (const SystemError& error) {
    reason_of_file = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_TRUE(contains(reason, "samples.jsonl")) << reason;
  EXPECT_TRUE(contains(reason, "what was stored before is whole")) << reason;
  EXPECT_TRUE(contains(reason_of_file, "run.json")) << reason_of_file;
  EXPECT_EQ(read_whole(folder + "/samples.jsonl"), samples);
  EXPECT_EQ(read_whole(folder + "/run.json"), run_json);
  const auto files = std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
  EXPECT_EQ(files, 2) << "nothing half-written may stay";
}

TEST(Store, SaysWhyAFolderCannotBeMade) {
  const TemporaryFolder temporary;
  write_whole(temporary.path("file"), "");
  const std::string complaint = complaint_of([&] { Store::create(temporary.path("file/run"), false); });
  EXPECT_TRUE(contains(complaint, "cannot be made")) << complaint;
}

TEST(Store, IsWrittenByOneJobAtATime) {
  const TemporaryFolder temporary;
  const std::string folder = temporary.path("run");
  {
    Store first = Store::create(folder, false);
    first.write(sample_run());
    EXPECT_THROW(Store::resume(folder), UserError);
    EXPECT_THROW(Store::create(folder, true), UserError);
    EXPECT_TRUE(std::filesystem::exists(folder + "/run.json")) << "who is refused removes nothing";
  }
  EXPECT_NO_THROW(Store::create(folder, true));
}

}  // namespace
}  // namespace ringmaster::result
