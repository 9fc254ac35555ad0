// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "../transport/group_cases.hpp"
#include "base/error.hpp"
#include "mpi_world.hpp"

namespace ringmaster::test {
namespace {

TEST(MpiGroup, ExchangesMessagesBetweenAllPairs) { exchange_all_pairs(world()); }
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
