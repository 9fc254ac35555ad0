// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "../transport/group_cases.hpp"
#include "base/error.hpp"
#include "mpi_world.hpp"

namespace ringmaster::test {
namespace {

TEST(MpiGroup, ExchangesMessagesBetweenAllPairs) { exchange_all_pairs(world()); }
TEST(MpiGroup, SharesMemory) { share_memory(world()); }
TEST(MpiGroup, KeepsTheOrderOfMessages) { keep_order(world()); }
TEST(MpiGroup, GathersAndBroadcasts) { gather_and_broadcast(world()); }
TEST(MpiGroup, Splits) { split_groups(world()); }

TEST(MpiGroup, TurnsAWrongCallIntoAnErrorThatNamesIt) {
  const auto request = world().make_request();
  const std::byte byte{1};
  try {
    world().post_send(std::span(&byte, 1), world().size(), 0, *request);
    FAIL() << "a message to nobody was sent";
  } catch (const SystemError& error) {
    EXPECT_EQ(error.origin(), "mpi");
    EXPECT_NE(std::string(error.what()).find("MPI_Isend"), std::string::npos);
  }
}

TEST(MpiGroup, RefusesAWrongPeer) { refuse_a_wrong_peer(world()); }

// Short messages between two processes. Open MPI 4.1 cuts a short one to oneself without a word, and writes a long
// one past the end of the buffer before it complains: no test for those.
TEST(MpiGroup, NamesThePeerWhoseMessageIsTooLong) {
  if (world().size() < 2) return;
  const auto send = world().make_request();
  const auto receive = world().make_request();
  const std::array<std::byte, 8> data{};
  std::array<std::byte, 8> buffer{};
  const int to = (world().rank() + 1) % world().size();
  const int from = (world().rank() + world().size() - 1) % world().size();
  world().post_receive(std::span(buffer).first(4), from, 0, *receive);
  world().post_send(data, to, 0, *send);
  try {
    finish(world(), *receive);
    FAIL() << "8 bytes arrived in 4";
  } catch (const SystemError& error) {
    const std::string wanted = "MPI_Test with rank " + std::to_string(from);
    EXPECT_NE(std::string(error.what()).find(wanted), std::string::npos) << error.what();
  }
  finish(world(), *send);
  world().barrier();
}

TEST(MpiFacts, NameTheLibraryAndWhatCarriesMessages) {
  const transport::MpiFacts facts = transport::mpi_facts();
  EXPECT_FALSE(facts.library.empty());
  EXPECT_EQ(facts.thread_level, "serialized");
  if (facts.library.rfind("Open MPI", 0) == 0) {
    const bool pml = std::any_of(facts.settings.begin(), facts.settings.end(),
                                 [](const auto& s) { return s.first == "pml" && !s.second.empty(); });
    EXPECT_TRUE(pml);
  }
}

}  // namespace
}  // namespace ringmaster::test
