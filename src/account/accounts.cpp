// SPDX-License-Identifier: Apache-2.0
#include "account/accounts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "account/intervals.hpp"
#include "base/text.hpp"

namespace ringmaster::account {
namespace {

using BucketKey = std::pair<std::int32_t, std::int32_t>;  // (step, bucket)
constexpr std::int32_t any_bucket = -1;
constexpr Nanoseconds long_ago = std::numeric_limits<Nanoseconds>::min();

/// When the last rank enqueued a bucket; any_bucket: the last bucket of the step.
using ReadyTimes = std::map<BucketKey, Nanoseconds>;

ReadyTimes ready_times(std::span<const RankEvents> ranks) {
  ReadyTimes ready;
  for (const RankEvents& rank : ranks) {
    for (const Event& event : rank.main) {
      if (event.label != Label::bucket_enqueued) continue;
      for (const std::int32_t bucket : {event.index, any_bucket}) {
        Nanoseconds& last = ready.try_emplace({event.step, bucket}, long_ago).first->second;
        last = std::max(last, event.end);
      }
    }
  }
  return ready;
}

// A wait for a bucket that nobody enqueued (nothing recorded it) can only be transfer.
Nanoseconds ready_last(const ReadyTimes& ready, std::int32_t step, std::int32_t bucket) {
  const auto at = ready.find({step, bucket});
  return at == ready.end() ? long_ago : at->second;
}

bool is_activity(const Event& event) {
  return event.lane == EventLane::main && event.label < Label::step && event.end > event.begin;
}

/// The account of every label but exposed_wait, which is split.
Account account_of(Label label) {
  switch (label) {
    case Label::data_wait: return Account::data_wait;
    case Label::forward: return Account::forward;
    case Label::backward: return Account::backward;
    case Label::encode: return Account::encode;
    case Label::optimizer: return Account::optimizer;
    case Label::host_gap: return Account::host_gap;
    case Label::pipeline_bubble: return Account::pipeline_bubble;
    case Label::progress: return Account::progress;
    default: return Account::other;
  }
}

/// A piece of the main lane in which one event is the innermost.
struct Segment {
  TimeInterval time;
  const Event* event = nullptr;
};

struct Begins {  // outermost first: the last of the active ones is the innermost
  bool operator()(const Event* a, const Event* b) const {
    return std::tuple(a->begin, -a->end, a) < std::tuple(b->begin, -b->end, b);
  }
};

/// The lane cut at every border inside the window; pieces without an event are left out.
std::vector<Segment> innermost(const std::vector<const Event*>& events, TimeInterval window) {
  std::vector<std::pair<Nanoseconds, const Event*>> borders;
  for (const Event* event : events) {
    borders.emplace_back(std::max(event->begin, window.begin), event);
    borders.emplace_back(std::min(event->end, window.end), event);
  }
  std::stable_sort(borders.begin(), borders.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Segment> segments;
  std::set<const Event*, Begins> active;
  Nanoseconds from = window.begin;
  for (const auto& [at, event] : borders) {
    if (!active.empty() && at > from) segments.push_back({{from, at}, *active.rbegin()});
    from = at;
    if (!active.insert(event).second) active.erase(event);
  }
  return segments;
}

/// One rank's step: everything that the accounts need, found once.
struct StepView {
  std::int32_t step = 0;
  TimeInterval window;
  std::vector<const Event*> main;
  std::vector<const Event*> transfers;
};

std::vector<StepView> steps_of(const RankEvents& rank) {
  std::vector<StepView> steps;
  for (const Event& event : rank.main) {
    if (event.label == Label::step && event.end > event.begin)
      steps.push_back({event.step, {event.begin, event.end}, {}, {}});
  }
  std::sort(steps.begin(), steps.end(),
            [](const StepView& a, const StepView& b) { return a.window.begin < b.window.begin; });
  const auto first_after = [&](Nanoseconds begin) {  // the first step that ends after `begin`
    return std::partition_point(steps.begin(), steps.end(), [&](const StepView& s) { return s.window.end <= begin; });
  };
  for (const Event& event : rank.main) {
    if (!is_activity(event)) continue;
    for (auto at = first_after(event.begin); at != steps.end() && at->window.begin < event.end; ++at)
      at->main.push_back(&event);
  }
  for (const Event& event : rank.engine) {
    if (event.label != Label::bucket_transfer) continue;
    for (auto at = first_after(event.begin); at != steps.end() && at->window.begin < event.end; ++at)
      at->transfers.push_back(&event);
  }
  return steps;
}

/// When, in a window, other buckets than this one were on the wire that began before it did.
TimeSet earlier_transfers(const StepView& view, std::int32_t bucket, const TimeInterval& window) {
  Nanoseconds own_begin = std::numeric_limits<Nanoseconds>::max();
  for (const Event* transfer : view.transfers) {
    if (transfer->index == bucket) own_begin = std::min(own_begin, transfer->begin);
  }
  std::vector<TimeInterval> others;
  for (const Event* transfer : view.transfers) {
    const TimeInterval during{std::max(transfer->begin, window.begin),
                              std::min({transfer->end, own_begin, window.end})};
    if (transfer->index != bucket && during.begin < during.end) others.push_back(during);
  }
  return union_of(std::move(others));
}

class StepBooks {
 public:
  StepBooks(const StepView& view, const ReadyTimes& ready) : view_(view), ready_(ready) {}

  StepAccounts close() {
    const std::vector<Segment> segments = innermost(view_.main, view_.window);
    for (const Segment& segment : segments) enter(segment);
    accounts_.step = view_.step;
    const Nanoseconds step = view_.window.end - view_.window.begin;
    accounts_.step_s = to_seconds(step);
    for (std::size_t a = 0; a < account_count; ++a) {
      booked_ += nanoseconds_[a];
      accounts_.seconds[a] = to_seconds(nanoseconds_[a]);
    }
    accounts_[Account::unaccounted] = to_seconds(step - booked_);
    communicate();
    return accounts_;
  }

 private:
  Nanoseconds& book(Account account) { return nanoseconds_[static_cast<std::size_t>(account)]; }

  void enter(const Segment& segment) {
    const Event& event = *segment.event;
    if (event.label == Label::progress || event.label == Label::exposed_wait) not_hidden_.push_back(segment.time);
    if (event.label != Label::exposed_wait) {
      book(account_of(event.label)) += segment.time.end - segment.time.begin;
      return;
    }
    const Nanoseconds ready = ready_last(ready_, event.step, event.index);
    const Nanoseconds border = std::clamp(ready, segment.time.begin, segment.time.end);
    book(Account::exposed_skew) += border - segment.time.begin;
    book(Account::exposed_transfer) += segment.time.end - border;
    if (event.index < 0 || border == segment.time.end) return;
    accounts_.queueing_s += to_seconds(length(earlier_transfers(view_, event.index, {border, segment.time.end})));
  }

  void communicate() {
    std::vector<TimeInterval> transfers;
    for (const Event* event : view_.transfers) {
      const Nanoseconds ready = ready_last(ready_, event->step, event->index);
      transfers.push_back(
          {std::max({event->begin, ready, view_.window.begin}), std::min(event->end, view_.window.end)});
    }
    const TimeSet communication = union_of(std::move(transfers));
    const Nanoseconds all = length(communication);
    const Nanoseconds exposed = length(intersection(communication, union_of(std::move(not_hidden_))));
    accounts_.communication_s = to_seconds(all);
    accounts_.hidden_s = to_seconds(all - exposed);
  }

  const StepView& view_;
  const ReadyTimes& ready_;
  StepAccounts accounts_;
  std::array<Nanoseconds, account_count> nanoseconds_{};
  Nanoseconds booked_ = 0;
  std::vector<TimeInterval> not_hidden_;
};

/// Step numbers that every rank has.
std::set<std::int32_t> common_steps(const std::vector<std::vector<StepView>>& ranks) {
  std::map<std::int32_t, std::size_t> seen;
  for (const auto& steps : ranks) {
    for (const StepView& view : steps) ++seen[view.step];
  }
  std::set<std::int32_t> common;
  for (const auto& [step, times] : seen) {
    if (times == ranks.size()) common.insert(step);
  }
  return common;
}

std::string failure(const char* what, double seconds, double steps_s, std::size_t steps, double most, const char* why) {
  const auto n = static_cast<double>(steps);
  return fmt::format("{} is {} of {} a step ({:.1f} %), at most {:.1f} % is allowed: {}", what,
                     format_time(seconds / n), format_time(steps_s / n), 100 * seconds / steps_s, 100 * most, why);
}

}  // namespace

const char* name_of(Account account) { return result::account_keys[static_cast<std::size_t>(account)]; }

std::vector<std::vector<StepAccounts>> account(std::span<const RankEvents> ranks) {
  const ReadyTimes ready = ready_times(ranks);
  std::vector<std::vector<StepView>> views;
  for (const RankEvents& rank : ranks) views.push_back(steps_of(rank));
  const std::set<std::int32_t> common = common_steps(views);
  std::vector<std::vector<StepAccounts>> accounts;
  for (const auto& steps : views) {
    std::vector<StepAccounts>& mine = accounts.emplace_back();
    for (const StepView& view : steps) {
      if (common.count(view.step) != 0) mine.push_back(StepBooks(view, ready).close());
    }
  }
  return accounts;
}

std::vector<std::string> audit(std::span<const StepAccounts> steps, double most_unaccounted, double most_other) {
  double steps_s = 0;
  double unaccounted_s = 0;
  double other_s = 0;
  for (const StepAccounts& step : steps) {
    steps_s += step.step_s;
    unaccounted_s += std::abs(step[Account::unaccounted]);
    other_s += step[Account::other];
  }
  std::vector<std::string> failures;
  if (steps_s <= 0) return {"no step was recorded"};
  if (unaccounted_s > most_unaccounted * steps_s) {
    failures.push_back(failure("unaccounted", unaccounted_s, steps_s, steps.size(), most_unaccounted,
                               "something on the main lane is not recorded"));
  }
  if (other_s > most_other * steps_s) {
    failures.push_back(failure("other", other_s, steps_s, steps.size(), most_other, "it needs an account of its own"));
  }
  return failures;
}

}  // namespace ringmaster::account
