// SPDX-License-Identifier: Apache-2.0
// Ranks as threads. A mailbox a receiver holds what was posted first, send or receive, in lists that run through the
// requests themselves: nothing is allocated on the data plane. Who posts second copies the message.
#include "transport/threads.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "device/device.hpp"

namespace ringmaster::transport {
namespace {

constexpr auto failure_poll = std::chrono::milliseconds(5);

/// Shared by all groups that come from one run_as_threads: a rank that fails ends everybody's waiting.
struct Family {
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::string reason;

  void fail(const std::string& why) {
    const std::lock_guard lock(mutex);
    if (failed.load()) return;
    reason = why;
    failed.store(true);
  }
  void check(const char* call) {
    if (!failed.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex);
    throw SystemError("threads", 0, call, reason);
  }
};

class Mailbox;

struct ThreadRequest final : Request {
  ThreadRequest() = default;
  ThreadRequest(const ThreadRequest&) = delete;
  ThreadRequest& operator=(const ThreadRequest&) = delete;
  ~ThreadRequest() override;

  enum class State : std::uint8_t { idle, posted, done, truncated };
  std::atomic<State> state{State::idle};
  enum class Direction : std::uint8_t { send, receive };
  Direction direction = Direction::send;
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::size_t bytes = 0;
  int from = 0;
  int tag = 0;
  ThreadRequest* next = nullptr;
  Mailbox* mailbox = nullptr;  // where it was posted last
};

/// Copies a message and completes both sides.
void deliver(ThreadRequest& send, ThreadRequest& receive) {
  using State = ThreadRequest::State;
  const bool fits = send.bytes <= receive.bytes;
  if (fits && send.bytes > 0) std::memcpy(receive.target, send.source, send.bytes);
  const State end = fits ? State::done : State::truncated;
  send.state.store(end, std::memory_order_release);
  receive.state.store(end, std::memory_order_release);
}

/// What waits for its counterpart at one receiver: either sends or receives of a (source, tag), never both.
class Mailbox {
 public:
  void post(ThreadRequest& request) {
    const std::lock_guard lock(mutex_);
    request.mailbox = this;
    ThreadRequest** link = &first_;
    for (ThreadRequest* other = first_; other != nullptr; link = &other->next, other = other->next) {
      if (other->direction == request.direction || other->from != request.from || other->tag != request.tag) continue;
      *link = other->next;
      if (request.direction == ThreadRequest::Direction::send) {
        deliver(request, *other);
      } else {
        deliver(*other, request);
      }
      return;
    }
    request.next = nullptr;
    *link = &request;
  }

  /// A rank that fails destroys requests that nobody has answered: none may stay in the list.
  void withdraw(ThreadRequest& request) {
    const std::lock_guard lock(mutex_);
    for (ThreadRequest** link = &first_; *link != nullptr; link = &(*link)->next) {
      if (*link != &request) continue;
      *link = request.next;
      return;
    }
  }

 private:
  std::mutex mutex_;
  ThreadRequest* first_ = nullptr;  // in order of posting
};

ThreadRequest::~ThreadRequest() {
  if (state.load(std::memory_order_acquire) == State::posted) mailbox->withdraw(*this);
}

struct World {
  World(std::span<const std::int64_t> marks, std::shared_ptr<Family> family_)
      : mailboxes(marks.size()),
        nodes(number_nodes(marks)),
        contributions(marks.size()),
        children(marks.size()),
        shared(marks.size()),
        family(std::move(family_)) {}

  /// Returns when all ranks have called it; throws if one of them failed meanwhile.
  void meet() {
    std::unique_lock lock(mutex);
    const std::int64_t own = generation;
    if (++arrived == static_cast<int>(mailboxes.size())) {
      arrived = 0;
      ++generation;
      met.notify_all();
      return;
    }
    while (generation == own) {
      met.wait_for(lock, failure_poll);
      if (generation == own) family->check("barrier");
    }
  }

  std::vector<Mailbox> mailboxes;
  std::vector<int> nodes;
  std::vector<std::vector<std::byte>> contributions;
  std::vector<std::shared_ptr<World>> children;
  std::vector<std::shared_ptr<device::Buffer>> shared;
  std::shared_ptr<Family> family;
  std::mutex mutex;
  std::condition_variable met;
  int arrived = 0;
  std::int64_t generation = 0;
};

class ThreadGroup final : public ProcessGroup {
 public:
  ThreadGroup(std::shared_ptr<World> world, int rank) : world_(std::move(world)), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(world_->mailboxes.size()); }
  const char* transport_name() const override { return "threads"; }
  int highest_tag() const override { return (1 << 23) - 1; }  // Open MPI's limit over UCX is no higher

  std::unique_ptr<Request> make_request() override { return std::make_unique<ThreadRequest>(); }

  void post_send(std::span<const std::byte> data, int peer, int tag, Request& request) override {
    ThreadRequest& own = begin(request, peer, tag, Direction::send);
    own.source = data.data();
    own.bytes = data.size();
    world_->mailboxes[static_cast<std::size_t>(peer)].post(own);
  }

  void post_receive(std::span<std::byte> data, int peer, int tag, Request& request) override {
    ThreadRequest& own = begin(request, peer, tag, Direction::receive);
    own.target = data.data();
    own.bytes = data.size();
    world_->mailboxes[static_cast<std::size_t>(rank_)].post(own);
  }

  bool test(Request& request) override {
    using State = ThreadRequest::State;
    auto& own = static_cast<ThreadRequest&>(request);
    const State state = own.state.load(std::memory_order_acquire);
    if (state == State::posted) {
      world_->family->check("message");
      return false;
    }
    RINGMASTER_ASSERT(state != State::idle, "a request is tested that was never posted");
    own.state.store(State::idle, std::memory_order_relaxed);
    if (state == State::truncated) {
      throw SystemError("threads", 0, "message", "the message is longer than the buffer that receives it");
    }
    return true;
  }

  void progress() override { world_->family->check("message"); }

  void barrier() override { world_->meet(); }

  void broadcast(std::span<std::byte> data, int root) override {
    auto& shared = world_->contributions[static_cast<std::size_t>(root)];
    if (rank_ == root) shared.assign(data.begin(), data.end());
    world_->meet();
    RINGMASTER_ASSERT(shared.size() == data.size(), "a broadcast of different sizes");
    if (rank_ != root) std::copy(shared.begin(), shared.end(), data.begin());
    world_->meet();
  }

  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) override {
    world_->contributions[static_cast<std::size_t>(rank_)].assign(mine.begin(), mine.end());
    world_->meet();
    auto all = world_->contributions;
    world_->meet();
    return all;
  }

  std::unique_ptr<ProcessGroup> split(int color, int key) override {
    struct Wish {
      int color, key, rank;
    };
    std::vector<Wish> members;
    for (const Wish& wish : gather_values(*this, Wish{color, key, rank_})) {
      if (wish.color == color) members.push_back(wish);
    }
    std::stable_sort(members.begin(), members.end(), [](const Wish& a, const Wish& b) { return a.key < b.key; });
    std::vector<std::int64_t> marks;
    for (const Wish& member : members) marks.push_back(nodes()[static_cast<std::size_t>(member.rank)]);
    const auto leader = static_cast<std::size_t>(members.front().rank);
    if (color >= 0 && members.front().rank == rank_) {
      world_->children[leader] = std::make_shared<World>(marks, world_->family);
    }
    world_->meet();
    const std::shared_ptr<World> child = color >= 0 ? world_->children[leader] : nullptr;
    world_->meet();
    if (!child) return nullptr;
    const auto mine = std::find_if(members.begin(), members.end(), [&](const Wish& w) { return w.rank == rank_; });
    return std::make_unique<ThreadGroup>(child, static_cast<int>(mine - members.begin()));
  }

  const std::vector<int>& nodes() const override { return world_->nodes; }

  // Plain memory of the process, the same addresses for all ranks: a race is a race for ThreadSanitizer too. Parts of
  // other nodes are empty: who touches them fails.
  NodeMemory share(std::int64_t bytes) override {
    world_->shared[static_cast<std::size_t>(rank_)] = std::make_shared<device::Buffer>(bytes);
    world_->meet();
    std::vector<std::span<std::byte>> parts;
    std::vector<std::shared_ptr<void>> owners;
    for (std::size_t rank = 0; rank < world_->shared.size(); ++rank) {
      const bool here = nodes()[rank] == nodes()[static_cast<std::size_t>(rank_)];
      owners.push_back(here ? world_->shared[rank] : nullptr);
      parts.push_back(here ? world_->shared[rank]->bytes() : std::span<std::byte>());
    }
    world_->meet();
    world_->shared[static_cast<std::size_t>(rank_)].reset();
    return {rank_, std::move(parts), std::move(owners)};
  }

 private:
  using Direction = ThreadRequest::Direction;

  ThreadRequest& begin(Request& request, int peer, int tag, Direction direction) {
    if (peer < 0 || peer >= size()) {
      const char* call = direction == Direction::send ? "send" : "receive";
      throw SystemError("threads", peer, fmt::format("{} with rank {}", call, peer), "there is no such rank");
    }
    auto& own = static_cast<ThreadRequest&>(request);
    RINGMASTER_ASSERT(own.state.load(std::memory_order_relaxed) == ThreadRequest::State::idle,
                      "a request is posted while it is in use");
    own.direction = direction;
    own.from = direction == Direction::send ? rank_ : peer;
    own.tag = tag;
    own.state.store(ThreadRequest::State::posted, std::memory_order_relaxed);
    return own;
  }

  std::shared_ptr<World> world_;
  int rank_;
};

}  // namespace

void run_as_threads(int ranks, const std::function<void(ProcessGroup&)>& body) {
  RINGMASTER_ASSERT(ranks >= 1, "a group without ranks");
  run_as_threads_on(std::vector<int>(static_cast<std::size_t>(ranks)), body);
}

void run_as_threads_on(const std::vector<int>& nodes, const std::function<void(ProcessGroup&)>& body) {
  const auto family = std::make_shared<Family>();
  const std::vector<std::int64_t> marks(nodes.begin(), nodes.end());
  const auto world = std::make_shared<World>(marks, family);
  std::exception_ptr first;
  std::mutex first_mutex;
  const auto run_rank = [&](int rank) {
    ThreadGroup group(world, rank);
    try {
      body(group);
    } catch (const std::exception& error) {
      const std::lock_guard lock(first_mutex);
      if (!first) first = std::current_exception();
      family->fail(fmt::format("rank {} failed: {}", rank, error.what()));
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < static_cast<int>(nodes.size()); ++rank) threads.emplace_back(run_rank, rank);
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace ringmaster::transport
