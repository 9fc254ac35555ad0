// SPDX-License-Identifier: Apache-2.0
// A planted slow link: a message leaves when the link would have carried it. Each peer's link carries one message
// after another; what is due is passed on whenever the rank tests anything.
#include <algorithm>
#include <deque>
#include <utility>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "transport/threads.hpp"

namespace ringmaster::transport {
namespace {

struct LimitedRequest final : Request {
  explicit LimitedRequest(std::unique_ptr<Request> request) : inner(std::move(request)) {}
  std::unique_ptr<Request> inner;
  std::span<const std::byte> data;
  int tag = 0;
  Nanoseconds due = 0;
  bool held = false;  // not passed on yet
};

struct Link {
  Nanoseconds free_at = 0;
  std::deque<LimitedRequest*> held;  // in the order in which they were posted
};

class LimitedGroup final : public ProcessGroup {
 public:
  LimitedGroup(ProcessGroup& inner, const LinkLimit& limit)
      : inner_(inner), limit_(limit), links_(static_cast<std::size_t>(inner.size())) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  const char* transport_name() const override { return inner_.transport_name(); }
  int highest_tag() const override { return inner_.highest_tag(); }

  std::unique_ptr<Request> make_request() override {
    return std::make_unique<LimitedRequest>(inner_.make_request());
  }

  void post_send(std::span<const std::byte> data, int peer, int tag, Request& request) override {
    auto& own = static_cast<LimitedRequest&>(request);
    RINGMASTER_ASSERT(!own.held, "a request is posted while it is in use");
    Link& link = links_[static_cast<std::size_t>(peer)];
    const double carried_s = limit_.bytes_per_s > 0 ? static_cast<double>(data.size()) / limit_.bytes_per_s : 0;
    const Nanoseconds leaves = std::max(now_ns(), link.free_at) + static_cast<Nanoseconds>(carried_s * 1e9);
    link.free_at = leaves;
    own.due = leaves + static_cast<Nanoseconds>(limit_.latency_s * 1e9);
    own.data = data;
    own.tag = tag;
    own.held = true;
    link.held.push_back(&own);
    pass_on();
  }

  void post_receive(std::span<std::byte> data, int peer, int tag, Request& request) override {
    inner_.post_receive(data, peer, tag, *static_cast<LimitedRequest&>(request).inner);
  }

  bool test(Request& request) override {
    pass_on();
    auto& own = static_cast<LimitedRequest&>(request);
    return !own.held && inner_.test(*own.inner);
  }

  void barrier() override { inner_.barrier(); }
  void broadcast(std::span<std::byte> data, int root) override { inner_.broadcast(data, root); }
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) override {
    return inner_.all_gather(mine);
  }
  std::unique_ptr<ProcessGroup> split(int color, int key) override { return inner_.split(color, key); }

 private:
  void pass_on() {
    const Nanoseconds now = now_ns();
    for (std::size_t peer = 0; peer < links_.size(); ++peer) {
      std::deque<LimitedRequest*>& held = links_[peer].held;
      while (!held.empty() && held.front()->due <= now) {
        LimitedRequest& request = *held.front();
        held.pop_front();
        inner_.post_send(request.data, static_cast<int>(peer), request.tag, *request.inner);
        request.held = false;
      }
    }
  }

  ProcessGroup& inner_;
  LinkLimit limit_;
  std::vector<Link> links_;
};

}  // namespace

std::unique_ptr<ProcessGroup> limit_links(ProcessGroup& group, const LinkLimit& limit) {
  return std::make_unique<LimitedGroup>(group, limit);
}

}  // namespace ringmaster::transport
