// SPDX-License-Identifier: Apache-2.0
#include "transport/detail/shared_memory.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.hpp"
#include "transport/mpi.hpp"

namespace ringmaster::transport {
namespace {

/// Sets a variable of the environment for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

constexpr std::int64_t mib = std::int64_t{1} << 20;

TEST(SharedMemory, IsRefusedWithItsCureWhereTheRanksDoNotFit) {
  EXPECT_NO_THROW(detail::require_segment_room("/dev/shm", 64 * mib, 8));
  try {
    detail::require_segment_room("/dev/shm", 64 * mib, 16);
    FAIL() << "16 ranks in 64 MiB";
  } catch (const UserError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("/dev/shm has 64 MiB free"), std::string::npos) << text;
    EXPECT_NE(text.find("--shm-size"), std::string::npos) << text;
    EXPECT_NE(text.find("--mca btl_vader_backing_directory"), std::string::npos) << text;
  }
}

TEST(SharedMemory, FollowsWhatTheLauncherWasTold) {
  EXPECT_EQ(detail::segment_folder(), "/dev/shm");
  {
    const Variable btl("OMPI_MCA_btl", "self,tcp");
    EXPECT_EQ(detail::segment_folder(), "");
  }
  {
    const Variable btl("OMPI_MCA_btl", "^openib,vader");
    EXPECT_EQ(detail::segment_folder(), "");
  }
  {
    const Variable btl("OMPI_MCA_btl", "^openib");
    const Variable folder("OMPI_MCA_btl_vader_backing_directory", "/tmp");
    EXPECT_EQ(detail::segment_folder(), "/tmp");
  }
}

TEST(PromisedWorld, IsOfTheStepAndNotOfTheAllocation) {
  const Variable tasks("SLURM_NTASKS", "8");
  EXPECT_EQ(promised_world_size(), 0);
  {
    const Variable step("SLURM_STEP_NUM_TASKS", "4");
    EXPECT_EQ(promised_world_size(), 4);
  }
  const Variable open_mpi("OMPI_COMM_WORLD_SIZE", "2");
  EXPECT_EQ(promised_world_size(), 2);
}

}  // namespace
}  // namespace ringmaster::transport
