// SPDX-License-Identifier: Apache-2.0
// A planted slow link: a message leaves when the link would have carried it. Each peer's link carries one message
// after another; what is due is passed on whenever the rank posts or tests anything. The messages held back form a
// list that runs through their requests: nothing is allocated on the data plane.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "transport/threads.hpp"

namespace ringmaster::transport {
namespace {

struct Link;

struct LimitedRequest final : Request {
  explicit LimitedRequest(std::unique_ptr<Request> request) : inner(std::move(request)) {}
  ~LimitedRequest() override;
  LimitedRequest(const LimitedRequest&) = delete;
  LimitedRequest& operator=(const LimitedRequest&) = delete;

  std::unique_ptr<Request> inner;
  std::span<const std::byte> data;
  int tag = 0;
  Nanoseconds due = 0;
  Link* held_by = nullptr;  // not passed on yet
  LimitedRequest* next = nullptr;
};

struct Link {
  Nanoseconds free_at = 0;
  LimitedRequest* first = nullptr;  // in the order in which they were posted
  LimitedRequest* last = nullptr;

  void hold(LimitedRequest& request) {
    request.held_by = this;
    request.next = nullptr;
    (last == nullptr ? first : last->next) = &request;
    last = &request;
  }
  void release(LimitedRequest& request) {
    LimitedRequest* before = nullptr;
    for (LimitedRequest* at = first; at != &request; at = at->next) before = at;
    (before == nullptr ? first : before->next) = request.next;
    if (last == &request) last = before;
    request.held_by = nullptr;
  }
};

/// A rank that fails destroys requests whose time has not come.
LimitedRequest::~LimitedRequest() {
  if (held_by != nullptr) held_by->release(*this);
}

class LimitedGroup final : public ProcessGroup {
 public:
  LimitedGroup(ProcessGroup& inner, const LinkLimit& limit)
      : inner_(inner), limit_(limit), links_(static_cast<std::size_t>(inner.size())) {}
  LimitedGroup(std::unique_ptr<ProcessGroup> inner, const LinkLimit& limit) : LimitedGroup(*inner, limit) {
    owned_ = std::move(inner);
  }

  ~LimitedGroup() override {
    for (Link& link : links_) {
      while (link.first != nullptr) link.release(*link.first);
    }
  }
  LimitedGroup(const LimitedGroup&) = delete;
  LimitedGroup& operator=(const LimitedGroup&) = delete;

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  const char* transport_name() const override { return inner_.transport_name(); }
  int highest_tag() const override { return inner_.highest_tag(); }

  std::unique_ptr<Request> make_request() override { return std::make_unique<LimitedRequest>(inner_.make_request()); }

  void post_send(std::span<const std::byte> data, int peer, int tag, Request& request) override {
    auto& own = static_cast<LimitedRequest&>(request);
    RINGMASTER_ASSERT(own.held_by == nullptr, "a request is posted while it is in use");
    if (peer < 0 || peer >= size()) {  // said at once, in the words of the group below
      inner_.post_send(data, peer, tag, *own.inner);
      return;
    }
    Link& link = links_[static_cast<std::size_t>(peer)];
    const double carried_s = limit_.bytes_per_s > 0 ? static_cast<double>(data.size()) / limit_.bytes_per_s : 0;
    const Nanoseconds leaves = std::max(now_ns(), link.free_at) + static_cast<Nanoseconds>(carried_s * 1e9);
    link.free_at = leaves;
    own.due = leaves + static_cast<Nanoseconds>(limit_.latency_s * 1e9);
    own.data = data;
    own.tag = tag;
    link.hold(own);
    pass_on();
  }

  void post_receive(std::span<std::byte> data, int peer, int tag, Request& request) override {
    inner_.post_receive(data, peer, tag, *static_cast<LimitedRequest&>(request).inner);
  }

  bool test(Request& request) override {
    pass_on();
    auto& own = static_cast<LimitedRequest&>(request);
    return own.held_by == nullptr && inner_.test(*own.inner);
  }

  void progress() override {
    pass_on();
    inner_.progress();
  }

  void barrier() override { inner_.barrier(); }
  void broadcast(std::span<std::byte> data, int root) override { inner_.broadcast(data, root); }
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) override {
    return inner_.all_gather(mine);
  }
  std::unique_ptr<ProcessGroup> split(int color, int key) override {
    auto part = inner_.split(color, key);
    return part ? std::make_unique<LimitedGroup>(std::move(part), limit_) : nullptr;
  }
  const std::vector<int>& nodes() const override { return inner_.nodes(); }
  Verdict shares_memory() const override { return Verdict::no("a planted slow link slows messages, not memory"); }
  NodeMemory share(std::int64_t bytes) override { return inner_.share(bytes); }

 private:
  void pass_on() {
    const Nanoseconds now = now_ns();
    for (std::size_t peer = 0; peer < links_.size(); ++peer) {
      Link& link = links_[peer];
      while (link.first != nullptr && link.first->due <= now) {
        LimitedRequest& request = *link.first;
        link.release(request);
        inner_.post_send(request.data, static_cast<int>(peer), request.tag, *request.inner);
      }
    }
  }

  std::unique_ptr<ProcessGroup> owned_;  // of a group that was split off
  ProcessGroup& inner_;
  LinkLimit limit_;
  std::vector<Link> links_;
};

}  // namespace

std::unique_ptr<ProcessGroup> limit_links(ProcessGroup& group, const LinkLimit& limit) {
  return std::make_unique<LimitedGroup>(group, limit);
}

}  // namespace ringmaster::transport
