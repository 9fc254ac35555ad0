// SPDX-License-Identifier: Apache-2.0
// Does a library's row name what really ran? This program defines Open MPI's own algorithm functions, so the library
// calls these; each notes its name and passes on to the real one. CTest takes a run with one skipped test for skipped:
// a test here skips only where the library is another one, which all do.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>

#include "../collective/cases.hpp"
#include "mpi_world.hpp"
#include "transport/mpi_tool.hpp"

namespace {

struct Call {
  std::string algorithm;
  int ranks = 0;
  std::int64_t segment_bytes = 0;
};

std::vector<Call>& calls() {
  static std::vector<Call> noted;
  return noted;
}

void note(const char* algorithm, MPI_Comm comm, std::int64_t segment_bytes = 0) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  calls().push_back({algorithm, ranks, segment_bytes});
}

template <class Function>
Function real(const char* symbol) {
  void* found = dlsym(RTLD_NEXT, symbol);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function>(found);
}

}  // namespace

// The count is an int in some versions and a size_t in others; as a size_t either is passed on whole.
#define ORACLE_PARAMETERS \
  const void *input, void *output, std::size_t count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, void *module
#define ORACLE_ARGUMENTS input, output, count, type, op, comm, module
#define ORACLE(symbol, name)                                            \
  extern "C" int symbol(ORACLE_PARAMETERS);                             \
  extern "C" int symbol(ORACLE_PARAMETERS) {                            \
    note(name, comm);                                                   \
    static const auto next = real<int (*)(ORACLE_PARAMETERS)>(#symbol); \
    return next(ORACLE_ARGUMENTS);                                      \
  }
ORACLE(ompi_coll_base_allreduce_intra_basic_linear, "basic-linear")
ORACLE(ompi_coll_base_allreduce_intra_nonoverlapping, "nonoverlapping")
ORACLE(ompi_coll_base_allreduce_intra_recursivedoubling, "recursive-doubling")
ORACLE(ompi_coll_base_allreduce_intra_ring, "ring")
ORACLE(ompi_coll_base_allreduce_intra_redscat_allgather, "rabenseifner")
extern "C" int ompi_coll_base_allreduce_intra_ring_segmented(ORACLE_PARAMETERS, std::uint32_t segment);
extern "C" int ompi_coll_base_allreduce_intra_ring_segmented(ORACLE_PARAMETERS, std::uint32_t segment) {
  note("segmented-ring", comm, segment);
  static const auto next =
      real<int (*)(ORACLE_PARAMETERS, std::uint32_t)>("ompi_coll_base_allreduce_intra_ring_segmented");
  return next(ORACLE_ARGUMENTS, segment);
}

namespace ringmaster::test {
namespace {

constexpr const char* algorithm_variable = "coll_tuned_allreduce_algorithm";

class LibraryOracle : public testing::Test {
 protected:
  void SetUp() override {
    const std::string library = transport::mpi_facts().library;
    if (library.rfind("Open MPI", 0) != 0) GTEST_SKIP() << "only Open MPI can be told; this is " << library;
  }
};

std::vector<std::int64_t> counts() {
  const std::int64_t p = world().size();
  return {1, p - 1, p, 1000, 65'537, 3 * 65'536, 1'500'001};
}

AllreduceChoice forced(const std::string& id, std::int64_t segment = 0) {
  AllreduceChoice choice;
  choice.algorithm = "library-algorithm";
  choice.parameters.set("id", id);
  choice.parameters.set("segment", segment);
  return choice;
}

std::vector<AllreduceChoice> every_forced() {
  std::vector<AllreduceChoice> all = collective::every_allreduce();
  std::erase_if(all, [](const AllreduceChoice& choice) { return choice.algorithm != "library-algorithm"; });
  for (const std::int64_t segment : {0, 3, 6, 7, 100, 1024}) all.push_back(forced("segmented-ring", segment));
  return all;
}

/// Runs once; the functions of the library that were called, in order.
template <class T>
std::vector<Call> run_once(Allreduce& allreduce, std::int64_t count) {
  Vectors<T> vectors(static_cast<std::size_t>(count), Placement::in_place);
  const auto operation = allreduce.prepare(vectors.buffers());
  vectors.fill(world().rank(), 1);
  calls().clear();
  collective::run(*operation, Waiting::yield);
  std::vector<Call> noted = std::move(calls());
  calls().clear();
  vectors.check(world().size(), 1, allreduce.choice().algorithm);
  return noted;
}

/// "ring" of "MPI_Allreduce as ring (...": what a row says that runs.
std::string named(const std::string& what_runs) {
  std::string text = what_runs;
  for (const std::string before : {"MPI_Allreduce as ", " that became "}) {
    const std::size_t at = text.find(before);
    if (at != std::string::npos) text = text.substr(at + before.size());
  }
  return text.substr(0, text.find(' '));
}

template <class T>
void expect_rows_tell_the_truth(const AllreduceChoice& choice) {
  Allreduce allreduce(world(), choice);
  for (const std::int64_t count : counts()) {
    if (count == 0) continue;
    const std::vector<Call> noted = run_once<T>(allreduce, count);
    const DataType type = sizeof(T) == 4 ? DataType::float32 : DataType::float64;
    const std::string what = allreduce.what_runs(count * static_cast<std::int64_t>(sizeof(T)), type);
    ASSERT_FALSE(noted.empty()) << what;
    // The first call is what was asked for, the last one what it passed on to.
    EXPECT_EQ(noted.front().algorithm, choice.parameters.text("id"));
    EXPECT_EQ(noted.front().segment_bytes, choice.parameters.integer("segment"));
    EXPECT_EQ(noted.back().algorithm, named(what)) << label(choice) << " of " << count << ": " << what;
    EXPECT_EQ(what.find("became") != std::string::npos, noted.size() > 1) << what;
  }
}

TEST_F(LibraryOracle, EachForcedAlgorithmRunsAndIsNamedWithWhatItBecame) {
  for (const AllreduceChoice& choice : every_forced()) {
    if (const Verdict verdict = collective::supports(choice, world()); !verdict) {
      EXPECT_EQ(world().size(), 1) << verdict.reason;
      continue;
    }
    expect_rows_tell_the_truth<float>(choice);
    expect_rows_tell_the_truth<double>(choice);
  }
}

TEST_F(LibraryOracle, WhatWasForcedIsPutBackAndChangesNoOtherCommunicator) {
  if (world().size() == 1) return;
  AllreduceChoice plain;
  plain.algorithm = "library";
  Allreduce library(world(), plain);
  std::map<std::int64_t, std::string> before;
  for (const std::int64_t count : counts()) before[count] = run_once<float>(library, count).back().algorithm;
  const auto info = transport::tool_session().find(algorithm_variable);
  ASSERT_TRUE(info.has_value());
  const std::string value = transport::tool_session().text(*info);

  Allreduce linear(world(), forced("basic-linear"));
  Allreduce doubling(world(), forced("recursive-doubling"));
  EXPECT_EQ(transport::tool_session().text(*info), value);
  const auto later = world().duplicate();
  Allreduce on_later(*later, plain);
  for (const std::int64_t count : counts()) {
    EXPECT_EQ(run_once<float>(library, count).back().algorithm, before[count]);
    EXPECT_EQ(run_once<float>(on_later, count).back().algorithm, before[count]);
    EXPECT_EQ(run_once<float>(linear, count).back().algorithm, "basic-linear");
    EXPECT_EQ(run_once<float>(doubling, count).back().algorithm, "recursive-doubling");
  }
}

TEST_F(LibraryOracle, RefusesASegmentWhereThereIsNone) {
  const Verdict verdict = collective::supports(forced("ring", 65'536), world());
  EXPECT_FALSE(verdict);
  EXPECT_NE(verdict.reason.find("takes no segment"), std::string::npos) << verdict.reason;
}

/// Run by library_table_test.bash, which compares it with the switch of our session on and off.
TEST_F(LibraryOracle, WritesWhatThePlainLibraryRuns) {
  const char* path = std::getenv("RINGMASTER_LIBRARY_TABLE");
  if (path == nullptr) return;
  AllreduceChoice plain;
  plain.algorithm = "library";
  Allreduce library(world(), plain);
  std::ofstream table;
  if (world().rank() == 0) table.open(path);
  for (std::int64_t count = 1; count <= (1 << 21); count = count * 3 / 2 + 1) {
    table << count;
    for (const Call& call : run_once<float>(library, count)) table << ' ' << call.algorithm;
    table << '\n';
  }
}

/// Run once more by library_han_test.bash, on two nodes.
TEST_F(LibraryOracle, HanWorksBetweenNodesOrSaysWhyNot) {
  AllreduceChoice choice;
  choice.algorithm = "library-han";
  if (const Verdict verdict = collective::supports(choice, world()); !verdict) {
    EXPECT_EQ(std::getenv("RINGMASTER_EXPECTS_HAN"), nullptr) << verdict.reason;
    EXPECT_FALSE(verdict.reason.empty());
    return;
  }
  for (const std::size_t count : {std::size_t{1}, std::size_t{16'384}, std::size_t{65'536}, std::size_t{65'537}}) {
    for (const Placement placement : {Placement::in_place, Placement::out_of_place}) {
      reduce_and_check<float>(world(), choice, count, placement);
      reduce_and_check<double>(world(), choice, count, placement);
    }
  }
  Allreduce han(world(), choice);
  run_once<float>(han, 1);  // the first call makes HAN's communicators with allreduces over all ranks
  for (const std::int64_t count : counts()) {
    for (const Call& call : run_once<float>(han, count)) {
      EXPECT_LT(call.ranks, world().size()) << call.algorithm << " over all ranks: HAN passed on";
    }
  }
  EXPECT_NE(han.what_runs(4096).find("coll/han"), std::string::npos);
}

}  // namespace
}  // namespace ringmaster::test
