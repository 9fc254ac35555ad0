// SPDX-License-Identifier: Apache-2.0
// Main of every MPI test program: one MPI session, every rank runs every test. A rank that fails takes the job down
// after a moment, so that the others do not wait for it. An argument, RANKS_PER_NODE, pretends nodes.
#include <gtest/gtest.h>

#include <cstdlib>

#include "mpi_world.hpp"

namespace {

ringmaster::transport::MpiSession* session = nullptr;

/// A failed assertion leaves this rank out of step with the others: end everything.
class AbortOnFailure final : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo& info) override {
    if (info.result()->Failed()) ringmaster::transport::abort_job(1);
  }
};

}  // namespace

ringmaster::transport::ProcessGroup& ringmaster::test::world() { return session->world(); }

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  ringmaster::transport::MpiSession mpi(&argc, &argv, argc > 1 ? std::atoi(argv[1]) : 0);
  session = &mpi;
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  if (mpi.world().rank() != 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new AbortOnFailure);  // NOLINT(cppcoreguidelines-owning-memory): GoogleTest owns it
  return RUN_ALL_TESTS();
}
