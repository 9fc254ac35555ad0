// SPDX-License-Identifier: Apache-2.0
// Real numbers through every allreduce, over threads and MPI alike. Inputs are small integers: exact in any order.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "collective/allreduce.hpp"
#include "collective/engine.hpp"
#include "collective/exact_data.hpp"

namespace ringmaster::test {

using collective::Allreduce;
using collective::AllreduceChoice;
using collective::Buffers;
using collective::Waiting;

inline double element(int rank, std::size_t i, int salt) {
  return static_cast<double>((static_cast<std::size_t>(rank) * 7 + i * 13 + static_cast<std::size_t>(salt)) % 31) - 15;
}

inline double expected(int ranks, std::size_t i, int salt) {
  double sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += element(rank, i, salt);
  return sum;
}

enum class Placement { out_of_place, in_place };

/// Two vectors and an operation over them.
template <class T>
class Vectors {
 public:
  Vectors(std::size_t count, Placement placement)
      : own_(2 * count, T{-1}),
        input_(own_.data(), count),
        output_(own_.data() + count, count),
        placement_(placement) {}
  /// In memory that the ranks share. Collective over `group`.
  Vectors(std::size_t count, Placement placement, transport::ProcessGroup& group)
      : shared_(group.share(static_cast<std::int64_t>(2 * count * sizeof(T)))),
        input_(reinterpret_cast<T*>(shared_.mine().data()), count),
        output_(input_.data() + count, count),
        placement_(placement) {}
  Buffers buffers() {
    auto& in = placement_ == Placement::in_place ? output_ : input_;
    return {std::as_bytes(in), std::as_writable_bytes(output_), sizeof(T) == 4 ? DataType::float32 : DataType::float64,
            shared_.mine().empty() ? nullptr : &shared_};
  }
  void fill(int rank, int salt) {
    auto& in = placement_ == Placement::in_place ? output_ : input_;
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(element(rank, i, salt));
  }
  void check(int ranks, int salt, const std::string& what) const {
    for (std::size_t i = 0; i < output_.size(); ++i) {
      ASSERT_EQ(output_[i], static_cast<T>(expected(ranks, i, salt))) << what << " element " << i;
    }
  }
  void check_input(int rank, int salt) const {
    if (placement_ == Placement::in_place) return;
    for (std::size_t i = 0; i < input_.size(); ++i) ASSERT_EQ(input_[i], static_cast<T>(element(rank, i, salt)));
  }

 private:
  std::vector<T> own_;
  transport::NodeMemory shared_;
  std::span<T> input_;
  std::span<T> output_;
  Placement placement_;
};

/// The same operation three times, over one vector.
template <class T>
void reduce_and_check(transport::ProcessGroup& group, const AllreduceChoice& choice, std::size_t count,
                      Vectors<T> vectors) {
  Allreduce allreduce(group, choice);
  const auto operation = allreduce.prepare(vectors.buffers());
  for (int salt = 0; salt < 3; ++salt) {
    vectors.fill(group.rank(), salt);
    collective::run(*operation, Waiting::yield);
    vectors.check(group.size(), salt,
                  label(choice) + " of " + std::to_string(count) + ", run " + std::to_string(salt) + ", rank " +
                      std::to_string(group.rank()) + ",");
    vectors.check_input(group.rank(), salt);
  }
}

template <class T>
void reduce_and_check(transport::ProcessGroup& group, const AllreduceChoice& choice, std::size_t count,
                      Placement placement) {
  reduce_and_check<T>(group, choice, count, Vectors<T>(count, placement));
  if (collective::shares_memory(choice.transport)) {
    reduce_and_check<T>(group, choice, count, Vectors<T>(count, placement, group));
  }
}

/// Vectors of any type whose reduction is exact, through an operation twice: against serial arithmetic, and the same
/// bits after both runs.
inline void combine_and_check(transport::ProcessGroup& group, const AllreduceChoice& choice, std::size_t count,
                              DataType type, Reduction reduction, Placement placement) {
  const auto bytes = static_cast<std::int64_t>(count) * size_of(type);
  const auto span = static_cast<std::size_t>(bytes);
  transport::NodeMemory shared;
  std::vector<std::byte> own;
  if (collective::shares_memory(choice.transport)) {
    shared = group.share(2 * bytes);
  } else {
    own.resize(2 * span);
  }
  const std::span<std::byte> all = own.empty() ? shared.mine() : std::span(own);
  const std::span<std::byte> output = all.last(span);
  const std::span<std::byte> input = placement == Placement::in_place ? output : all.first(span);
  Allreduce allreduce(group, choice);
  const auto operation = allreduce.prepare({input, output, type, own.empty() ? &shared : nullptr, reduction});
  for (std::uint64_t salt = 0; salt < 2; ++salt) {
    std::fill(output.begin(), output.end(), std::byte{0xA5});
    collective::fill_exact(input, type, group.rank(), salt);
    collective::run(*operation, Waiting::yield);
    ASSERT_EQ(collective::count_wrong(output, type, reduction, group.size(), salt), 0)
        << label(choice) << " of " << count << " " << name_of(type) << ", " << name_of(reduction);
    group.barrier();  // nobody refills what others still read
  }
}

/// Numbers whose sum depends on the order: all ranks must still hold the same bits.
inline void expect_same_bits(transport::ProcessGroup& group, const AllreduceChoice& choice) {
  Allreduce allreduce(group, choice);
  std::vector<float> values(1013);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 1.0F / static_cast<float>(3 + i + 17 * static_cast<std::size_t>(group.rank()));
  }
  const auto bytes = std::as_writable_bytes(std::span(values));
  collective::run(*allreduce.prepare({bytes, bytes, DataType::float32}), Waiting::yield);
  const auto all = group.all_gather(bytes);
  for (const auto& other : all) ASSERT_EQ(std::memcmp(other.data(), bytes.data(), bytes.size()), 0);
}

/// Several buckets in flight, in two steps, through an engine.
inline void through_an_engine(transport::ProcessGroup& group, const AllreduceChoice& choice,
                              collective::EngineMode mode) {
  Recorder recorder;
  collective::EngineOptions options;
  options.mode = mode;
  options.in_flight = 3;
  options.recorder = &recorder;
  Allreduce allreduce(group, choice);
  std::vector<Vectors<float>> vectors;
  std::vector<std::unique_ptr<collective::Operation>> operations;
  constexpr int buckets = 7;
  for (int b = 0; b < buckets; ++b) vectors.emplace_back(static_cast<std::size_t>(b * 1000 + 1), Placement::in_place);
  for (auto& v : vectors) operations.push_back(allreduce.prepare(v.buffers()));
  {
    collective::Engine engine(options);
    for (int step = 0; step < 4; ++step) {
      std::vector<std::int64_t> tickets;
      for (int b = 0; b < buckets; ++b) {
        vectors[static_cast<std::size_t>(b)].fill(group.rank(), step + b);
        tickets.push_back(engine.submit(*operations[static_cast<std::size_t>(b)], step, b, 1000 * b + 4));
        engine.poll();
      }
      for (int b = 0; b < buckets; ++b) {
        engine.wait(tickets[static_cast<std::size_t>(b)]);
        vectors[static_cast<std::size_t>(b)].check(group.size(), step + b, "bucket");
      }
      engine.wait_all();
    }
  }
  const auto events = recorder.events();
  ASSERT_EQ(events.size(), static_cast<std::size_t>(4 * buckets));
  for (const Event& event : events) {
    EXPECT_EQ(event.label, Label::bucket_transfer);
    EXPECT_EQ(event.lane, EventLane::engine);
    EXPECT_LE(event.begin, event.end);
  }
}

}  // namespace ringmaster::test
