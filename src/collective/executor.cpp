// SPDX-License-Identifier: Apache-2.0
#include "collective/executor.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/activity.hpp"
#include "base/error.hpp"
#include "collective/plan.hpp"
#include "collective/segments.hpp"
#include "device/device.hpp"
#include "kernels/cpu/reduce.hpp"

namespace ringmaster::collective {
namespace {

constexpr std::int64_t chunk_message_bytes = std::int64_t{256} << 10;

/// Memory that a segment works on.
struct Bases {
  const std::byte* input = nullptr;  // of the lane
  std::byte* output = nullptr;
  std::int64_t element_bytes = 4;
  DataType type = DataType::float32;
  Reduction reduction = Reduction::sum;
  int ranks = 1;

  kernels::Arithmetic arithmetic(kernels::Sum sum) const { return kernels::arithmetic_of(type, reduction, ranks, sum); }
};

/// A message slot: the request and whether it is under way.
struct Pending {
  std::unique_ptr<transport::Request> request;
  bool open = false;
};

/// One segment on its way through the rounds.
class Flight {
 public:
  Flight(transport::ProcessGroup& group, int tag, const std::array<const Plan*, 2>& plans, const Bases& bases);

  /// Begins with the segment that starts `offset` elements into the lane.
  void start(const Plan& plan, std::int64_t offset);
  bool active() const { return plan_ != nullptr; }
  /// Moves on as far as possible; true when the segment is complete.
  bool progress();

 private:
  void begin_round();
  void post_receives(std::size_t round);
  bool test_all(std::vector<Pending>& pending, std::int32_t count, std::int32_t& open);
  void run_sums(SumTime time);
  void run_sum(const PlannedSum& sum);
  std::byte* address(const Piece& piece);
  const std::byte* source_address(const Piece& piece);

  transport::ProcessGroup& group_;
  int tag_;
  Bases bases_;
  device::Buffer bounce_;
  device::Buffer slots_;
  std::int64_t slot_elements_ = 0;
  std::array<std::vector<Pending>, 2> receives_;  // by the round's parity
  std::vector<Pending> sends_;
  std::vector<const std::byte*> sources_;
  const Plan* plan_ = nullptr;
  std::int64_t offset_ = 0;
  std::size_t round_ = 0;
  std::size_t posted_rounds_ = 0;  // rounds whose receives are posted
  std::int32_t open_receives_ = 0;
  std::int32_t open_sends_ = 0;
  bool first_sums_done_ = false;
};

Flight::Flight(transport::ProcessGroup& group, int tag, const std::array<const Plan*, 2>& plans, const Bases& bases)
    : group_(group), tag_(tag), bases_(bases) {
  std::int64_t bounce = 0;
  std::int64_t slots = 0;
  int receives = 0;
  int sends = 0;
  std::size_t sources = 0;
  for (const Plan* plan : plans) {
    bounce = std::max(bounce, plan->bounce_elements);
    slots = std::max(slots, plan->slots * plan->elements);
    slot_elements_ = std::max(slot_elements_, plan->elements);
    receives = std::max(receives, plan->most_receives);
    sends = std::max(sends, plan->most_sends);
    for (const PlannedSum& sum : plan->sums) sources = std::max(sources, static_cast<std::size_t>(sum.source_count));
  }
  bounce_ = device::Buffer(bounce * bases.element_bytes);
  slots_ = device::Buffer(slots * bases.element_bytes);
  for (auto& parity : receives_) {
    for (int i = 0; i < receives; ++i) parity.push_back({group.make_request(), false});
  }
  for (int i = 0; i < sends; ++i) sends_.push_back({group.make_request(), false});
  sources_.resize(sources);
}

std::byte* Flight::address(const Piece& piece) {
  switch (piece.place) {
    case Place::output: return bases_.output + (offset_ + piece.begin) * bases_.element_bytes;
    case Place::slot: return slots_.data() + (piece.slot * slot_elements_ + piece.begin) * bases_.element_bytes;
    case Place::bounce: return bounce_.data() + piece.begin * bases_.element_bytes;
    case Place::input: break;
  }
  RINGMASTER_ASSERT(false, "a schedule writes its input");
  return nullptr;
}

const std::byte* Flight::source_address(const Piece& piece) {
  if (piece.place == Place::input) return bases_.input + (offset_ + piece.begin) * bases_.element_bytes;
  return address(piece);
}

void Flight::start(const Plan& plan, std::int64_t offset) {
  plan_ = &plan;
  offset_ = offset;
  round_ = 0;
  posted_rounds_ = 0;
  if (plan.rounds.empty()) {
    plan_ = nullptr;
    return;
  }
  begin_round();
}

void Flight::post_receives(std::size_t round) {
  const PlannedRound& planned = plan_->rounds[round];
  std::vector<Pending>& pending = receives_[round % 2];
  for (std::int32_t i = 0; i < planned.receive_count; ++i) {
    const PlannedMessage& message = plan_->receives[static_cast<std::size_t>(planned.first_receive + i)];
    const auto bytes = static_cast<std::size_t>(message.piece.elements * bases_.element_bytes);
    Pending& slot = pending[static_cast<std::size_t>(i)];
    group_.post_receive({address(message.piece), bytes}, message.peer, tag_, *slot.request);
    slot.open = true;
  }
  posted_rounds_ = round + 1;
}

void Flight::begin_round() {
  const PlannedRound& planned = plan_->rounds[round_];
  Activity& now = activity();
  now.round.store(static_cast<std::int64_t>(round_), std::memory_order_relaxed);
  now.touch();
  if (posted_rounds_ <= round_) post_receives(round_);
  for (std::int32_t i = 0; i < planned.pack_count; ++i) {
    run_sum(plan_->sums[static_cast<std::size_t>(planned.first_pack + i)]);
  }
  for (std::int32_t i = 0; i < planned.send_count; ++i) {
    const PlannedMessage& message = plan_->sends[static_cast<std::size_t>(planned.first_send + i)];
    const auto bytes = static_cast<std::size_t>(message.piece.elements * bases_.element_bytes);
    Pending& slot = sends_[static_cast<std::size_t>(i)];
    group_.post_send({source_address(message.piece), bytes}, message.peer, tag_, *slot.request);
    slot.open = true;
  }
  open_receives_ = planned.receive_count;
  open_sends_ = planned.send_count;
  first_sums_done_ = false;
  if (planned.receive_count > 0) {
    const auto first = static_cast<std::size_t>(planned.first_receive);
    now.peer.store(plan_->receives[first].peer, std::memory_order_relaxed);
  }
  // The next round's receives may wait already, so that its messages need no detour through unexpected buffers.
  if (round_ + 1 < plan_->rounds.size() && plan_->rounds[round_ + 1].receives_early) post_receives(round_ + 1);
}

bool Flight::test_all(std::vector<Pending>& pending, std::int32_t count, std::int32_t& open) {
  for (std::int32_t i = 0; open > 0 && i < count; ++i) {
    Pending& slot = pending[static_cast<std::size_t>(i)];
    if (!slot.open || !group_.test(*slot.request)) continue;
    slot.open = false;
    --open;
  }
  return open == 0;
}

void Flight::run_sum(const PlannedSum& sum) {
  for (std::int32_t i = 0; i < sum.source_count; ++i) {
    sources_[static_cast<std::size_t>(i)] =
        source_address(plan_->sources[static_cast<std::size_t>(sum.first_source + i)]);
  }
  kernels::reduce({sources_.data(), static_cast<std::size_t>(sum.source_count)}, address(sum.destination),
                  sum.destination.elements,
                  bases_.arithmetic(sum.completes ? kernels::Sum::complete : kernels::Sum::partial));
}

void Flight::run_sums(SumTime time) {
  const PlannedRound& planned = plan_->rounds[round_];
  for (std::int32_t i = 0; i < planned.sum_count; ++i) {
    const PlannedSum& sum = plan_->sums[static_cast<std::size_t>(planned.first_sum + i)];
    if (sum.time == time) run_sum(sum);
  }
}

bool Flight::progress() {
  while (plan_ != nullptr) {
    const PlannedRound& planned = plan_->rounds[round_];
    const bool received = test_all(receives_[round_ % 2], planned.receive_count, open_receives_);
    const bool sent = test_all(sends_, planned.send_count, open_sends_);
    if (!received) return false;
    if (!first_sums_done_) {
      run_sums(SumTime::after_receives);
      first_sums_done_ = true;
    }
    if (!sent) return false;
    run_sums(SumTime::after_sends);
    if (++round_ == plan_->rounds.size()) {
      plan_ = nullptr;
      return true;
    }
    begin_round();
  }
  return true;
}

using LaneRun = Segments<Plan, Flight>;

std::unique_ptr<LaneRun> prepare_lane(transport::ProcessGroup& group, const schedule::Lane& lane, std::int64_t elements,
                                      const Bases& bases, std::int64_t segment_bytes, int first_tag) {
  const Aliasing aliasing = bases.input == bases.output ? Aliasing::in_place : Aliasing::out_of_place;
  const std::int64_t wished = segment_bytes > 0 ? segment_bytes : default_segment_bytes(lane.chunks);
  const schedule::Completion completion = bases.reduction == Reduction::average
                                              ? schedule::Completion(lane, bases.ranks, group.rank())
                                              : schedule::Completion();
  auto run = std::make_unique<LaneRun>(elements, segment_elements(wished, bases.element_bytes), [&](std::int64_t n) {
    return compile(lane, group.rank(), n, bases.type, aliasing, completion);
  });
  for (int i = 0; i < run->flights(); ++i) {
    run->add(std::make_unique<Flight>(group, first_tag + i, run->flows(), bases));
  }
  return run;
}

class ScheduleOperation final : public Operation {
 public:
  ScheduleOperation(transport::ProcessGroup& group, const schedule::Schedule& schedule, const Buffers& buffers,
                    const ExecutorOptions& options) {
    RINGMASTER_ASSERT(buffers.input.size() == buffers.output.size(), "input and output of different sizes");
    const std::int64_t element_bytes = size_of(buffers.type);
    const auto count = static_cast<std::int64_t>(buffers.output.size()) / element_bytes;
    for (std::size_t i = 0; i < schedule.lanes.size(); ++i) {
      const schedule::ElementRange slice = lane_elements(schedule, i, count, 64 / element_bytes);
      Bases bases{buffers.input.data() + slice.begin * element_bytes,
                  buffers.output.data() + slice.begin * element_bytes,
                  element_bytes,
                  buffers.type,
                  buffers.reduction,
                  group.size()};
      const int tag = options.first_tag + static_cast<int>(i) * segments_in_flight;
      lanes_.push_back(prepare_lane(group, schedule.lanes[i], slice.size(), bases, options.segment_bytes, tag));
    }
  }

 private:
  void do_start() override {
    for (auto& lane : lanes_) lane->start();
  }
  bool do_progress() override {
    bool complete = true;
    for (auto& lane : lanes_) complete = lane->progress() && complete;
    return complete;
  }
  std::vector<std::unique_ptr<LaneRun>> lanes_;
};

}  // namespace

int tags_needed(const schedule::Schedule& schedule) {
  return static_cast<int>(schedule.lanes.size()) * segments_in_flight;
}

std::int64_t default_segment_bytes(std::int64_t chunks) {
  return chunk_message_bytes * std::max<std::int64_t>(chunks, 1);
}

std::unique_ptr<Operation> make_schedule_operation(transport::ProcessGroup& group, const schedule::Schedule& schedule,
                                                   const Buffers& buffers, const ExecutorOptions& options) {
  return std::make_unique<ScheduleOperation>(group, schedule, buffers, options);
}

}  // namespace ringmaster::collective
