// SPDX-License-Identifier: Apache-2.0
#include "collective/shared_executor.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "base/activity.hpp"
#include "base/error.hpp"
#include "collective/dataflow.hpp"
#include "collective/segments.hpp"
#include "kernels/cpu/reduce.hpp"

namespace ringmaster::collective {
namespace {

constexpr std::int64_t line_bytes = 128;  // two lines: processors fetch neighbours

/// Out of place, a result of this size is not in any cache when it is read: stored past them.
constexpr std::int64_t streamed_bytes = std::int64_t{4} << 20;
/// A segment of a schedule whose steps build on each other should stay in the caches between them.
constexpr std::int64_t chunk_bytes = std::int64_t{64} << 10;

/// Where the vectors and the executor's memory of every rank begin, seen from here. Vectors that are not shared are
/// null for other ranks.
struct RankMemory {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::byte* counters = nullptr;
  std::byte* scratch = nullptr;
};

/// What all flights of a lane have in common.
struct LaneShape {
  transport::ProcessGroup* group = nullptr;
  std::vector<RankMemory> ranks;  // of the lane's slice; those of other nodes are empty
  int rank = 0;
  int first_tag = 0;
  DataType type = DataType::float32;
  kernels::Arithmetic of_partial;   // sums
  kernels::Arithmetic of_complete;  // sums
  std::int64_t scratch_bytes = 0;   // of one turn
  int turns = 1;
  kernels::Stores last_stores = kernels::Stores::ordinary;
};

/// One segment on its way through its steps.
class Flight {
 public:
  Flight(const LaneShape& shape, int number, const std::array<const Dataflow*, 2>& flows);

  void start(const Dataflow& flow, std::int64_t offset);
  bool active() const { return flow_ != nullptr; }
  /// Moves on as far as possible; true when the segment is complete.
  bool progress();

 private:
  bool reached(const Wait& wait) const;
  bool reached(const std::vector<Wait>& waits, std::size_t first, std::size_t count);
  void publish(std::uint64_t steps);
  bool run_step(const DataflowStep& step);
  void run_sum(const DataflowStep& step);
  bool run_message(const DataflowStep& step);
  std::byte* address(const Location& location) const;
  const std::byte* source_address(const Location& location) const;
  std::uint64_t* counter(int rank) const {
    std::byte* const at = shape_.ranks[static_cast<std::size_t>(rank)].counters + number_ * line_bytes;
    return reinterpret_cast<std::uint64_t*>(at);
  }

  const LaneShape& shape_;
  int number_;
  std::vector<std::uint64_t> done_;  // by rank: what its counter says when it begins this run
  std::vector<const std::byte*> sources_;
  std::vector<std::byte*> destinations_;
  std::vector<std::unique_ptr<transport::Request>> requests_;  // one a message of the dataflow
  const Dataflow* flow_ = nullptr;
  std::int64_t offset_bytes_ = 0;
  std::size_t step_ = 0;
  std::size_t waited_ = 0;  // waits of the step that are over
  int turn_ = 0;
};

Flight::Flight(const LaneShape& shape, int number, const std::array<const Dataflow*, 2>& flows)
    : shape_(shape), number_(number), done_(shape.ranks.size(), 0) {
  std::size_t sources = 0;
  std::size_t destinations = 0;
  std::size_t messages = 0;
  for (const Dataflow* flow : flows) {
    messages = std::max(messages, flow->messages.size());
    for (const DataflowStep& step : flow->steps) {
      sources = std::max(sources, static_cast<std::size_t>(step.source_count));
      destinations = std::max(destinations, static_cast<std::size_t>(step.destination_count));
    }
  }
  sources_.resize(sources);
  destinations_.resize(destinations);
  while (requests_.size() < messages) requests_.push_back(shape.group->make_request());
}

std::byte* Flight::address(const Location& location) const {
  const RankMemory& memory = shape_.ranks[static_cast<std::size_t>(location.rank)];
  const std::int64_t begin = location.begin * size_of(shape_.type);
  if (location.home == Home::output) return memory.output + offset_bytes_ + begin;
  return memory.scratch + (number_ * shape_.turns + turn_) * shape_.scratch_bytes + begin;
}

const std::byte* Flight::source_address(const Location& location) const {
  if (location.home != Home::input) return address(location);
  const RankMemory& memory = shape_.ranks[static_cast<std::size_t>(location.rank)];
  return memory.input + offset_bytes_ + location.begin * size_of(shape_.type);
}

void Flight::publish(std::uint64_t steps) {
  const std::uint64_t begun = done_[static_cast<std::size_t>(shape_.rank)] + 1;
  std::atomic_ref(*counter(shape_.rank)).store(begun + steps, std::memory_order_release);
}

bool Flight::reached(const Wait& wait) const {
  const std::uint64_t needed = done_[static_cast<std::size_t>(wait.rank)] + 1 + static_cast<std::uint64_t>(wait.steps);
  return std::atomic_ref(*counter(wait.rank)).load(std::memory_order_acquire) >= needed;
}

bool Flight::reached(const std::vector<Wait>& waits, std::size_t first, std::size_t count) {
  for (; waited_ < count; ++waited_) {
    const Wait& wait = waits[first + waited_];
    if (reached(wait)) continue;
    activity().peer.store(wait.rank, std::memory_order_relaxed);
    if (!requests_.empty()) shape_.group->progress();  // the rank waited for may wait for a message of this one
    return false;
  }
  waited_ = 0;
  return true;
}

void Flight::start(const Dataflow& flow, std::int64_t offset) {
  flow_ = &flow;
  offset_bytes_ = offset * size_of(shape_.type);
  step_ = 0;
  waited_ = 0;
  turn_ = (turn_ + 1) % shape_.turns;
  publish(0);
}

bool Flight::run_step(const DataflowStep& step) {
  if (step.kind != StepKind::sum) return run_message(step);
  run_sum(step);
  return true;
}

bool Flight::run_message(const DataflowStep& step) {
  const auto number = static_cast<std::size_t>(step.message);
  const DataflowMessage& message = flow_->messages[number];
  transport::Request& request = *requests_[number];
  const auto bytes = static_cast<std::size_t>(message.elements * size_of(shape_.type));
  const int tag = shape_.first_tag + number_;
  if (step.kind == StepKind::send) {
    shape_.group->post_send({source_address(message.place), bytes}, message.peer, tag, request);
    return true;
  }
  if (step.kind == StepKind::receive) {
    shape_.group->post_receive({address(message.place), bytes}, message.peer, tag, request);
    return true;
  }
  if (shape_.group->test(request)) return true;
  activity().peer.store(message.peer, std::memory_order_relaxed);
  return false;
}

void Flight::run_sum(const DataflowStep& step) {
  const auto sources = static_cast<std::size_t>(step.source_count);
  const auto destinations = static_cast<std::size_t>(step.destination_count);
  for (std::size_t i = 0; i < sources; ++i) {
    sources_[i] = source_address(flow_->sources[static_cast<std::size_t>(step.first_source) + i]);
  }
  for (std::size_t i = 0; i < destinations; ++i) {
    destinations_[i] = address(flow_->destinations[static_cast<std::size_t>(step.first_destination) + i]);
  }
  kernels::reduce_store({sources_.data(), sources}, {destinations_.data(), destinations}, step.elements,
                        step.completes ? shape_.of_complete : shape_.of_partial,
                        step.read_again ? kernels::Stores::ordinary : shape_.last_stores);
}

bool Flight::progress() {
  while (step_ < flow_->steps.size()) {
    const DataflowStep& step = flow_->steps[step_];
    if (!reached(flow_->waits, static_cast<std::size_t>(step.first_wait), static_cast<std::size_t>(step.wait_count))) {
      return false;
    }
    if (!run_step(step)) return false;
    publish(++step_);
    activity().round.store(static_cast<std::int64_t>(step_), std::memory_order_relaxed);
    activity().touch();
  }
  const std::vector<Wait>& end = shape_.turns > 1 ? flow_->at_end_of_turn : flow_->at_end;
  if (!reached(end, 0, end.size())) return false;
  for (std::size_t rank = 0; rank < done_.size(); ++rank) {
    done_[rank] += static_cast<std::uint64_t>(flow_->steps_of[rank]) + 1;
  }
  flow_ = nullptr;
  return true;
}

/// A lane: its segments, and the memory that they need.
class LaneRun {
 public:
  LaneRun(const schedule::Schedule& schedule, std::size_t lane, std::int64_t elements, std::int64_t segment_bytes,
          DataType type, Aliasing aliasing, Vectors vectors, const transport::ProcessGroup& group)
      : type_(type) {
    const auto compiled = [&](std::int64_t n) {
      return compile_dataflow(schedule, lane, group.rank(), n, type, aliasing, vectors, group.nodes());
    };
    if (elements == 0) return;
    segments_ = {elements, elements, compiled};
    if (segment_bytes == 0 && one_pass(*segments_.flows().back(), vectors)) return;
    if (segment_bytes == 0) segment_bytes = default_bytes(schedule.lanes[lane].chunks, group);
    if (elements * size_of(type) <= segment_bytes) return;
    segments_ = {elements, segment_elements(segment_bytes, size_of(type)), compiled};
  }

  std::int64_t memory_bytes() const { return segments_.flights() * (line_bytes + turns() * scratch_bytes()); }

  /// Once the memory is there: the address of every rank's part, and of its slice of the vectors.
  void begin(LaneShape shape) {
    shape_ = std::move(shape);
    shape_.scratch_bytes = scratch_bytes();
    shape_.turns = turns();
    for (RankMemory& memory : shape_.ranks) {
      if (memory.counters != nullptr) memory.scratch = memory.counters + segments_.flights() * line_bytes;
    }
    for (int i = 0; i < segments_.flights(); ++i) {
      segments_.add(std::make_unique<Flight>(shape_, i, segments_.flows()));
    }
  }

  void start() { segments_.start(); }
  bool progress() { return segments_.progress(); }

 private:
  /// Messages are worth more bytes than steps on shared memory.
  static std::int64_t default_bytes(std::int64_t chunks, const transport::ProcessGroup& group) {
    return group.shares_memory() ? chunk_bytes * std::max<std::int64_t>(chunks, 1) : default_segment_bytes(chunks);
  }
  /// Where every rank does its part in one step there is nothing to pipeline.
  static bool one_pass(const Dataflow& flow, Vectors vectors) {
    return vectors == Vectors::shared &&
           std::all_of(flow.steps_of.begin(), flow.steps_of.end(), [](std::int64_t steps) { return steps <= 1; });
  }
  /// Two turns of scratch where every run is the same dataflow.
  int turns() const { return segments_.count() == 1 ? 2 : 1; }
  std::int64_t scratch_bytes() const {
    std::int64_t elements = 0;
    for (const Dataflow* flow : segments_.flows()) elements = std::max(elements, flow->scratch_elements);
    return (elements * size_of(type_) + 63) / 64 * 64;
  }

  DataType type_;
  LaneShape shape_;
  Segments<Dataflow, Flight> segments_;
};

class SharedOperation final : public Operation {
 public:
  SharedOperation(transport::ProcessGroup& group, const schedule::Schedule& schedule, const Buffers& buffers,
                  const ExecutorOptions& options) {
    RINGMASTER_ASSERT(buffers.input.size() == buffers.output.size(), "input and output of different sizes");
    const auto bytes = static_cast<std::int64_t>(buffers.output.size());
    const std::int64_t width = size_of(buffers.type);
    const bool in_place = buffers.input.data() == buffers.output.data();
    const Aliasing aliasing = in_place ? Aliasing::in_place : Aliasing::out_of_place;
    std::vector<RankMemory> places = vectors_of_all(group, buffers);
    const bool own = places.empty();
    if (own) places.assign(static_cast<std::size_t>(group.size()), {});
    RankMemory& mine = places[static_cast<std::size_t>(group.rank())];
    mine.input = buffers.input.data();
    mine.output = buffers.output.data();
    std::vector<schedule::ElementRange> slices;
    std::int64_t needed = 0;
    for (std::size_t i = 0; i < schedule.lanes.size(); ++i) {
      slices.push_back(lane_elements(schedule, i, bytes / width, 64 / width));
      lanes_.push_back(std::make_unique<LaneRun>(schedule, i, slices.back().size(), options.segment_bytes, buffers.type,
                                                 aliasing, own ? Vectors::own : Vectors::shared, group));
      needed += lanes_.back()->memory_bytes();
    }
    memory_ = group.share(needed);
    std::int64_t at = 0;
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      LaneShape shape;
      shape.group = &group;
      shape.first_tag = options.first_tag + static_cast<int>(i) * segments_in_flight;
      shape.rank = group.rank();
      shape.type = buffers.type;
      shape.of_partial = arithmetic_of(buffers.type, buffers.reduction, group.size(), kernels::Sum::partial);
      shape.of_complete = arithmetic_of(buffers.type, buffers.reduction, group.size(), kernels::Sum::complete);
      if (!own && !in_place && bytes >= streamed_bytes) shape.last_stores = kernels::Stores::streaming;
      for (int rank = 0; rank < group.size(); ++rank) {
        RankMemory memory = places[static_cast<std::size_t>(rank)];
        if (memory.output != nullptr) {
          memory.input += slices[i].begin * width;
          memory.output += slices[i].begin * width;
        }
        const std::span<std::byte> part = memory_.part(rank);
        if (!part.empty()) memory.counters = part.data() + at;
        shape.ranks.push_back(memory);
      }
      at += lanes_[i]->memory_bytes();
      lanes_[i]->begin(std::move(shape));
    }
  }

 private:
  /// Where every rank's vectors lie, seen from here; empty unless all of them lie in memory that their node shares.
  static std::vector<RankMemory> vectors_of_all(transport::ProcessGroup& group, const Buffers& buffers) {
    struct Offsets {
      std::int64_t input = -1, output = -1;
    } mine;
    if (buffers.memory != nullptr) {
      mine = {buffers.memory->offset_of(buffers.input), buffers.memory->offset_of(buffers.output)};
    }
    std::vector<RankMemory> all;
    for (const Offsets& offsets : transport::gather_values(group, mine)) {
      if (offsets.input < 0 || offsets.output < 0) return {};
      RankMemory memory;
      if (const auto part = buffers.memory->part(static_cast<int>(all.size())); !part.empty()) {
        memory.input = part.data() + offsets.input;
        memory.output = part.data() + offsets.output;
      }
      all.push_back(memory);
    }
    return all;
  }

  void do_start() override {
    for (auto& lane : lanes_) lane->start();
  }
  bool do_progress() override {
    bool complete = true;
    for (auto& lane : lanes_) complete = lane->progress() && complete;
    return complete;
  }

  transport::NodeMemory memory_;
  std::vector<std::unique_ptr<LaneRun>> lanes_;
};

}  // namespace

std::unique_ptr<Operation> make_shared_operation(transport::ProcessGroup& group, const schedule::Schedule& schedule,
                                                 const Buffers& buffers, const ExecutorOptions& options) {
  return std::make_unique<SharedOperation>(group, schedule, buffers, options);
}

}  // namespace ringmaster::collective
