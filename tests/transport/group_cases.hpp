// SPDX-License-Identifier: Apache-2.0
// What every ProcessGroup must do, run by the thread tests and the MPI tests alike. Collective over the group.
#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "transport/process_group.hpp"

namespace ringmaster::test {

inline void finish(transport::ProcessGroup& group, transport::Request& request) {
  while (!group.test(request)) std::this_thread::yield();
}

inline std::vector<std::uint8_t> pattern(int from, int to, std::size_t bytes) {
  std::vector<std::uint8_t> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    data[i] = static_cast<std::uint8_t>(static_cast<std::size_t>(from * 31 + to * 7) + i * 13);
  }
  return data;
}

/// Everybody sends to everybody, itself included, in several sizes, receives posted first and last.
inline void exchange_all_pairs(transport::ProcessGroup& group) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{1} << 20}) {
    const auto n = static_cast<std::size_t>(group.size());
    std::vector<std::vector<std::uint8_t>> sent(n);
    std::vector<std::vector<std::uint8_t>> received(n, std::vector<std::uint8_t>(bytes));
    std::vector<std::unique_ptr<transport::Request>> requests;
    for (int peer = 0; peer < group.size(); ++peer) {
      const auto p = static_cast<std::size_t>(peer);
      sent[p] = pattern(group.rank(), peer, bytes);
      requests.push_back(group.make_request());
      requests.push_back(group.make_request());
      auto& send = *requests[requests.size() - 2];
      auto& receive = *requests.back();
      if (peer % 2 == 0) group.post_receive(std::as_writable_bytes(std::span(received[p])), peer, 5, receive);
      group.post_send(std::as_bytes(std::span(sent[p])), peer, 5, send);
      if (peer % 2 != 0) group.post_receive(std::as_writable_bytes(std::span(received[p])), peer, 5, receive);
    }
    for (auto& request : requests) finish(group, *request);
    for (int peer = 0; peer < group.size(); ++peer) {
      EXPECT_EQ(received[static_cast<std::size_t>(peer)], pattern(peer, group.rank(), bytes));
    }
  }
}

/// Messages of one tag arrive in the order in which they were posted; other tags do not disturb them.
inline void keep_order(transport::ProcessGroup& group) {
  const int to = (group.rank() + 1) % group.size();
  const int from = (group.rank() + group.size() - 1) % group.size();
  constexpr int messages = 50;
  std::vector<std::int64_t> out(2 * messages);
  std::iota(out.begin(), out.end(), 100 * group.rank());
  std::vector<std::int64_t> in(2 * messages, -1);
  std::vector<std::unique_ptr<transport::Request>> requests;
  for (std::size_t i = 0; i < out.size(); ++i) {
    requests.push_back(group.make_request());
    group.post_send(std::as_bytes(std::span(&out[i], 1)), to, static_cast<int>(i % 2), *requests.back());
  }
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::size_t at = i < messages ? 2 * i + 1 : 2 * (i - messages);  // odd tags first
    requests.push_back(group.make_request());
    group.post_receive(std::as_writable_bytes(std::span(&in[at], 1)), from, static_cast<int>(at % 2), *requests.back());
  }
  for (auto& request : requests) finish(group, *request);
  for (std::size_t i = 0; i < in.size(); ++i) EXPECT_EQ(in[i], 100 * from + static_cast<std::int64_t>(i));
}

inline void gather_and_broadcast(transport::ProcessGroup& group) {
  std::vector<int> mine(static_cast<std::size_t>(group.rank()), group.rank());
  const auto all = transport::gather_vectors(group, std::span<const int>(mine));
  ASSERT_EQ(static_cast<int>(all.size()), group.size());
  for (int rank = 0; rank < group.size(); ++rank) {
    EXPECT_EQ(all[static_cast<std::size_t>(rank)], std::vector<int>(static_cast<std::size_t>(rank), rank));
  }
  const int root = group.size() - 1;
  EXPECT_EQ(transport::broadcast_text(group, "from " + std::to_string(group.rank()), root),
            "from " + std::to_string(root));
  EXPECT_EQ(transport::broadcast_text(group, ""), "");
  group.barrier();
}

/// Halves in reversed order; a group of one's own; no group at all.
inline void split_groups(transport::ProcessGroup& group) {
  const auto half = group.split(group.rank() % 2, -group.rank());
  ASSERT_NE(half, nullptr);
  const auto members = transport::gather_values(*half, group.rank());
  EXPECT_EQ(members[static_cast<std::size_t>(half->rank())], group.rank());
  for (std::size_t i = 1; i < members.size(); ++i) EXPECT_EQ(members[i - 1], members[i] + 2);
  const auto first = group.split(group.rank() == 0 ? 0 : -1, 0);
  EXPECT_EQ(first != nullptr, group.rank() == 0);
  if (first) {
    EXPECT_EQ(first->size(), 1);
  }
  const auto copy = group.duplicate();
  exchange_all_pairs(*copy);
  EXPECT_EQ(copy->rank(), group.rank());
}

/// A message for nobody: an error that names the rank, and the request can be used afterwards.
inline void refuse_a_wrong_peer(transport::ProcessGroup& group) {
  const auto request = group.make_request();
  std::byte byte{1};
  for (const int peer : {group.size(), -7}) {
    const auto expect_refusal = [&](const auto& post) {
      try {
        post();
        ADD_FAILURE() << "a message with rank " << peer;
      } catch (const SystemError& error) {
        EXPECT_NE(std::string(error.what()).find("rank " + std::to_string(peer)), std::string::npos) << error.what();
      }
    };
    expect_refusal([&] { group.post_send(std::span(&byte, 1), peer, 0, *request); });
    expect_refusal([&] { group.post_receive(std::span(&byte, 1), peer, 0, *request); });
  }
  const auto answer = group.make_request();
  std::byte received{};
  group.post_receive(std::span(&received, 1), group.rank(), 0, *answer);
  group.post_send(std::span(&byte, 1), group.rank(), 0, *request);
  finish(group, *request);
  finish(group, *answer);
  EXPECT_EQ(received, byte);
}

/// Everybody writes into the part of everybody on its node; parts of different sizes, one of them empty.
inline void share_memory(transport::ProcessGroup& group) {
  const auto here = [&](int rank) {
    return group.nodes()[static_cast<std::size_t>(rank)] == group.nodes()[static_cast<std::size_t>(group.rank())];
  };
  const auto ranks = static_cast<std::size_t>(group.size());
  const std::int64_t bytes = group.rank() == 0 ? 0 : static_cast<std::int64_t>(ranks) * 1000 * group.rank();
  const transport::NodeMemory memory = group.share(bytes);
  EXPECT_EQ(memory.mine().size(), static_cast<std::size_t>(bytes));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.mine().data()) % 4096, 0U);
  for (const std::byte byte : memory.mine()) ASSERT_EQ(byte, std::byte{0});
  group.barrier();
  for (int rank = 1; rank < group.size(); ++rank) {
    EXPECT_EQ(memory.part(rank).empty(), !here(rank));
    const std::size_t each = memory.part(rank).size() / ranks;
    for (std::byte& byte : memory.part(rank).subspan(each * static_cast<std::size_t>(group.rank()), each)) {
      byte = static_cast<std::byte>(rank * 16 + group.rank());
    }
  }
  group.barrier();
  const std::size_t each = memory.mine().size() / ranks;
  for (std::size_t i = 0; i < memory.mine().size(); ++i) {
    const std::size_t wrote =
        here(static_cast<int>(i / each)) ? static_cast<std::size_t>(group.rank()) * 16 + i / each : 0;
    ASSERT_EQ(memory.mine()[i], static_cast<std::byte>(wrote));
  }
  if (!memory.mine().empty()) {
    EXPECT_EQ(memory.offset_of(memory.mine().subspan(64, 8)), 64);
    EXPECT_EQ(memory.offset_of({memory.mine().data() + 1, memory.mine().size()}), -1);
  }
  const std::byte elsewhere{};
  EXPECT_EQ(memory.offset_of(std::span(&elsewhere, 1)), -1);
}

}  // namespace ringmaster::test
