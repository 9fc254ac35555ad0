// SPDX-License-Identifier: Apache-2.0
// What a step writes into its books. Times are only compared with each other or with a planted sleep.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <new>

#include "training.hpp"
#include "transport/threads.hpp"

namespace {
thread_local bool counting = false;
thread_local std::int64_t allocations = 0;
}  // namespace

// Replaced for this program, so that a step can be watched. Not inlined: the compiler would see malloc meet delete.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  if (counting) ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void* operator new(std::size_t size) {
  void* memory = operator new(size, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace ringmaster::parallel {
namespace {

using test::Rank;
using test::small_options;

constexpr double sleep_s = 0.005;

std::map<Label, int> counts(const std::vector<Event>& events) {
  std::map<Label, int> result;
  for (const Event& event : events) ++result[event.label];
  return result;
}

bool within(const Event& inner, const Event& outer) { return inner.begin >= outer.begin && inner.end <= outer.end; }

/// Events of one step on rank 1 of 2.
std::vector<Event> one_step(const DataParallelOptions& options) {
  std::vector<Event> events;
  transport::run_as_threads(2, [&](transport::ProcessGroup& group) {
    Rank rank(group, options);
    rank.steps(1);
    rank.main.clear();
    rank.steps(1);
    if (group.rank() == 1) events = rank.main.events();
  });
  return events;
}

Event step_of(const std::vector<Event>& events) {
  return *std::find_if(events.begin(), events.end(), [](const Event& event) { return event.label == Label::step; });
}

/// Nanoseconds of the step that no event covers.
Nanoseconds uncovered(std::vector<Event> events) {
  const Event step = step_of(events);
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.begin < b.begin; });
  Nanoseconds at = step.begin;
  Nanoseconds gaps = 0;
  for (const Event& event : events) {
    if (event.label >= Label::step) continue;
    gaps += std::max<Nanoseconds>(0, event.begin - at);
    at = std::max(at, event.end);
  }
  return gaps + std::max<Nanoseconds>(0, step.end - at);
}

TEST(Events, APlantedSleepIsOneMoreEventOfItsKindInsideSuchAPhase) {
  const std::map<Label, int> usual = counts(one_step(small_options()));
  for (int label = 0; label < activity_count; ++label) {
    DataParallelOptions options = small_options();
    options.plant.sleep_s = sleep_s;
    options.plant.label = static_cast<Label>(label);
    const std::vector<Event> events = one_step(options);
    std::map<Label, int> expected = usual;
    ++expected[options.plant.label];
    EXPECT_EQ(counts(events), expected) << name_of(options.plant.label);
    const auto of_its_kind = [&](const Event& event) { return event.label == options.plant.label; };
    // On a busy machine other events of its kind last as long: one of the long ones must lie where it should.
    EXPECT_TRUE(std::any_of(events.begin(), events.end(), [&](const Event& slept) {
      if (!of_its_kind(slept) || to_seconds(slept.end - slept.begin) < sleep_s) return false;
      if (!within(slept, step_of(events))) return false;
      if (usual.count(options.plant.label) == 0) return true;
      return std::any_of(events.begin(), events.end(), [&](const Event& event) {
        return of_its_kind(event) && &event != &slept && within(slept, event);
      });
    })) << name_of(options.plant.label);
  }
}

TEST(Events, ASleepThatIsNotRecordedLeavesAHoleInTheBooks) {
  DataParallelOptions options = small_options();
  options.plant.sleep_s = sleep_s;
  options.plant.unrecorded = true;
  const std::vector<Event> events = one_step(options);
  EXPECT_EQ(counts(events), counts(one_step(small_options())));
  EXPECT_GE(to_seconds(uncovered(events)), sleep_s);
}

TEST(Events, AFaultOfOneRankStaysThere) {
  DataParallelOptions options = small_options();
  options.plant.sleep_s = sleep_s;
  options.plant.label = Label::other;
  options.plant.rank = 0;
  EXPECT_EQ(counts(one_step(options)).count(Label::other), 0U);  // rank 1 is looked at
  options.plant.rank = 1;
  EXPECT_EQ(counts(one_step(options))[Label::other], 1);
}

TEST(Events, SlowComputeIsRealWorkAndChangesNoBit) {
  std::uint64_t usual = 0;
  for (const double factor : {1.0, 1.5, 3.0}) {
    DataParallelOptions options = small_options();
    options.plant.compute_factor = factor;
    const std::vector<Event> events = one_step(options);
    const int extra = static_cast<int>(std::ceil(factor)) - 1;  // passes, of at most a batch each
    const std::map<Label, int> none = counts(one_step(small_options()));
    EXPECT_EQ(counts(events)[Label::forward], none.at(Label::forward) + extra);
    EXPECT_EQ(counts(events)[Label::backward], none.at(Label::backward) + extra);
    transport::run_as_threads(2, [&](transport::ProcessGroup& group) {
      Rank rank(group, options);
      rank.steps(3);
      if (group.rank() != 0) return;
      if (factor == 1.0) usual = rank.trainer->parameter_hash();
      EXPECT_EQ(rank.trainer->parameter_hash(), usual);
    });
  }
}

TEST(Events, BucketsLeaveAsSoonAsTheirLastLayerIsDone) {
  for (const bool overlap : {true, false}) {
    DataParallelOptions options = small_options();
    options.overlap = overlap;
    options.micro_batches = 2;
    transport::run_as_threads(2, [&](transport::ProcessGroup& group) {
      Rank rank(group, options);
      rank.steps(1);
      std::map<int, Event> backward;  // by layer; the last micro-batch's stays
      for (const Event& event : rank.main.events()) {
        if (event.label == Label::backward && event.index >= 0) backward[event.index] = event;
      }
      int next = 0;
      for (const Event& event : rank.main.events()) {
        if (event.label != Label::bucket_enqueued) continue;
        EXPECT_EQ(event.index, next++);
        const int layer = rank.trainer->buckets()[static_cast<std::size_t>(event.index)].ready_layer;
        EXPECT_GE(event.begin, backward.at(overlap ? layer : 0).end);
        if (overlap && layer > 0) {
          EXPECT_LE(event.end, backward.at(layer - 1).begin);
        }
      }
      EXPECT_EQ(next, static_cast<int>(rank.trainer->buckets().size()));
      EXPECT_EQ(counts(rank.engine.events())[Label::bucket_transfer], next);
    });
  }
}

TEST(Events, StepsAreNumberedAndTheirPartsLieInside) {
  transport::run_as_threads(2, [](transport::ProcessGroup& group) {
    Rank rank(group, small_options());
    rank.steps(4);
    std::map<int, Event> steps;
    for (const Event& event : rank.main.events()) {
      if (event.label == Label::step) steps[event.step] = event;
    }
    EXPECT_EQ(steps.size(), 4U);
    for (const Event& event : rank.main.events()) EXPECT_TRUE(within(event, steps.at(event.step)));
  });
}

TEST(Events, NothingIsAllocatedOnTheMainLaneOfAStep) {
  for (const int ranks : {1, 2}) {
    for (const auto communication : {Communication::on, Communication::none}) {
      DataParallelOptions options = small_options();
      options.communication = communication;
      options.micro_batches = 2;
      options.clip_norm = 1;
      transport::run_as_threads(ranks, [&](transport::ProcessGroup& group) {
        Rank rank(group, options);
        rank.steps(2);
        allocations = 0;
        counting = true;
        for (int i = 0; i < 3; ++i) rank.trainer->step(rank.loader);
        counting = false;
        EXPECT_EQ(allocations, 0) << ranks << " ranks";
      });
    }
  }
}

}  // namespace
}  // namespace ringmaster::parallel
