// SPDX-License-Identifier: Apache-2.0
// Messages that are cut into pieces. Takes 2 GiB of memory: label large.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <span>

#include "../transport/group_cases.hpp"
#include "mpi_world.hpp"

namespace ringmaster::test {
namespace {

// Longer than an int counts. Pages that nobody wrote cost the sender nothing; one receiver holds them all.
TEST(MpiLargeMessage, CarriesMessagesLongerThanTwoGigabytes) {
  if (world().size() != 2) return;
  constexpr std::size_t bytes = (std::size_t{1} << 31) + 12345;
  constexpr std::size_t piece = std::size_t{1} << 30;
  const std::array<std::size_t, 6> marks{0, piece - 1, piece, 2 * piece - 1, 2 * piece, bytes - 1};
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  const std::span<std::byte> data(static_cast<std::byte*>(pages), bytes);
  const auto request = world().make_request();
  if (world().rank() == 0) {
    for (std::size_t i = 0; i < marks.size(); ++i) data[marks[i]] = static_cast<std::byte>(i + 1);
    world().post_send(data, 1, 9, *request);
  } else {
    world().post_receive(data, 0, 9, *request);
  }
  finish(world(), *request);
  for (std::size_t i = 0; i < marks.size(); ++i) EXPECT_EQ(data[marks[i]], static_cast<std::byte>(i + 1)) << marks[i];
  munmap(pages, bytes);
}

}  // namespace
}  // namespace ringmaster::test
