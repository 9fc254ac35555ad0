// SPDX-License-Identifier: Apache-2.0
#include "transport/threads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "base/clock.hpp"
#include "group_cases.hpp"

namespace ringmaster::transport {
namespace {

class ThreadsOf : public testing::TestWithParam<int> {};
TEST_P(ThreadsOf, ExchangeMessagesBetweenAllPairs) { run_as_threads(GetParam(), test::exchange_all_pairs); }
TEST_P(ThreadsOf, ShareMemory) { run_as_threads(GetParam(), test::share_memory); }
TEST_P(ThreadsOf, KeepTheOrderOfMessages) { run_as_threads(GetParam(), test::keep_order); }
TEST_P(ThreadsOf, GatherAndBroadcast) { run_as_threads(GetParam(), test::gather_and_broadcast); }
TEST_P(ThreadsOf, Split) { run_as_threads(GetParam(), test::split_groups); }
TEST_P(ThreadsOf, RefuseAWrongPeer) { run_as_threads(GetParam(), test::refuse_a_wrong_peer); }
INSTANTIATE_TEST_SUITE_P(Ranks, ThreadsOf, testing::Values(1, 2, 3, 4, 7, 16));

TEST(ThreadsOnNodes, ShareMemoryInsideEach) {
  for (const std::vector<int>& nodes : {std::vector{0, 0, 1, 1}, std::vector{7, 3, 7, 3, 5}}) {
    run_as_threads_on(nodes, [](ProcessGroup& group) {
      test::share_memory(group);
      EXPECT_FALSE(group.shares_memory());
      const auto node = group.split(group.nodes()[static_cast<std::size_t>(group.rank())], group.rank());
      EXPECT_TRUE(node->shares_memory());
      test::share_memory(*node);
    });
  }
  run_as_threads_on({7, 3, 7, 5}, [](ProcessGroup& group) {
    EXPECT_EQ(group.nodes(), (std::vector{0, 1, 0, 2}));
    if (group.rank() == 0) {
      EXPECT_EQ(group.shares_memory().reason, "shared memory needs all ranks on one node; here are 2 of 4");
    }
  });
}

TEST(Threads, ARankThatFailsEndsTheOthersWaiting) {
  for (const bool in_barrier : {true, false}) {
    try {
      run_as_threads(3, [&](ProcessGroup& group) {
        if (group.rank() == 1) throw std::runtime_error("planted");
        if (in_barrier) group.barrier();
        std::byte byte{};
        const auto request = group.make_request();
        group.post_receive(std::span(&byte, 1), 1, 0, *request);
        test::finish(group, *request);
      });
      FAIL() << "no error";
    } catch (const std::exception& error) {
      EXPECT_NE(std::string(error.what()).find("planted"), std::string::npos);
    }
  }
}

TEST(Threads, AMessageLongerThanItsBufferIsAnError) {
  EXPECT_THROW(run_as_threads(2,
                              [](ProcessGroup& group) {
                                std::vector<std::byte> data(group.rank() == 0 ? 8 : 4);
                                const auto request = group.make_request();
                                if (group.rank() == 0) {
                                  group.post_send(data, 1, 0, *request);
                                } else {
                                  group.post_receive(data, 0, 0, *request);
                                }
                                test::finish(group, *request);
                              }),
               SystemError);
}

TEST(Threads, AFailingRankTakesItsPostedMessagesAlong) {
  // Rank 0 posts to the mailboxes after rank 1's requests are gone: nothing of theirs may be left there.
  std::atomic<bool> gone{false};
  EXPECT_THROW(run_as_threads(2,
                              [&](ProcessGroup& group) {
                                std::vector<std::byte> data(64);
                                if (group.rank() == 1) {
                                  for (int tag = 0; tag < 3; ++tag) {
                                    const auto send = group.make_request();
                                    const auto receive = group.make_request();
                                    group.post_send(data, 0, tag, *send);
                                    group.post_receive(data, 0, tag, *receive);
                                  }
                                  gone = true;
                                  throw std::runtime_error("planted");
                                }
                                while (!gone) std::this_thread::yield();
                                for (int tag = 0; tag < 3; ++tag) {
                                  const auto request = group.make_request();
                                  group.post_send(data, 1, tag, *request);
                                  EXPECT_THROW(test::finish(group, *request), SystemError);
                                }
                              }),
               std::runtime_error);
}

class LimitedThreadsOf : public testing::TestWithParam<int> {};
TEST_P(LimitedThreadsOf, KeepTheRulesOfAGroup) {
  run_as_threads(GetParam(), [](ProcessGroup& group) {
    const auto limited = limit_links(group, {1e-5, 1e9});
    test::exchange_all_pairs(*limited);
    test::gather_and_broadcast(*limited);
    test::split_groups(*limited);
    test::refuse_a_wrong_peer(*limited);
  });
}
INSTANTIATE_TEST_SUITE_P(Ranks, LimitedThreadsOf, testing::Values(1, 2, 3));

TEST(ThreadsLimitedLink, IsKeptByGroupsThatAreSplitOff) {
  run_as_threads(2, [](ProcessGroup& group) {
    const auto limited = limit_links(group, {0.02, 0});
    const auto part = limited->duplicate();
    std::byte byte{};
    const auto request = part->make_request();
    group.barrier();
    const Nanoseconds begin = now_ns();
    if (group.rank() == 0) {
      part->post_send(std::span(&byte, 1), 1, 0, *request);
    } else {
      part->post_receive(std::span(&byte, 1), 0, 0, *request);
    }
    test::finish(*part, *request);
    EXPECT_GE(to_seconds(now_ns() - begin), 0.0195);
  });
}

TEST(ThreadsLimitedLink, ForgetsMessagesThatAreDestroyedBeforeTheirTime) {
  run_as_threads(2, [](ProcessGroup& group) {
    const auto limited = limit_links(group, {0.005, 0});
    const std::byte byte{7};
    const int peer = 1 - group.rank();
    const auto kept = limited->make_request();
    {
      const auto first = limited->make_request();
      const auto last = limited->make_request();
      limited->post_send(std::span(&byte, 1), peer, 1, *first);
      limited->post_send(std::span(&byte, 1), peer, 2, *kept);
      limited->post_send(std::span(&byte, 1), peer, 3, *last);
    }
    std::byte received{};
    const auto receive = limited->make_request();
    limited->post_receive(std::span(&received, 1), peer, 2, *receive);
    test::finish(*limited, *kept);
    test::finish(*limited, *receive);
    EXPECT_EQ(received, byte);
  });
}

TEST(ThreadsLimitedLink, HoldsMessagesBackAndKeepsTheirOrder) {
  run_as_threads(2, [](ProcessGroup& group) {
    const auto limited = limit_links(group, {0.001, 50e6});
    test::keep_order(*limited);
    std::vector<std::byte> data(1 << 20);
    const auto request = limited->make_request();
    group.barrier();
    const Nanoseconds begin = now_ns();
    if (group.rank() == 0) {
      limited->post_send(data, 1, 0, *request);
    } else {
      limited->post_receive(data, 0, 0, *request);
    }
    test::finish(*limited, *request);
    // 1 MiB at 50 MB/s and 1 ms: a lower bound, whatever else the machine does.
    EXPECT_GE(to_seconds(now_ns() - begin), 0.0205);
  });
}

}  // namespace
}  // namespace ringmaster::transport
