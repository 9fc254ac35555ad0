// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/reduce.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "kernels/reference/reduce.hpp"

namespace ringmaster::kernels {
namespace {

template <class T>
constexpr DataType type_of = sizeof(T) == 4 ? DataType::float32 : DataType::float64;

template <class T>
std::vector<std::vector<T>> random_sources(std::size_t sources, std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<T>> all(sources, std::vector<T>(count + 3));
  for (auto& source : all) {
    for (T& x : source) x = static_cast<T>(random.normal() * std::pow(10.0, random.uniform() * 12 - 6));
  }
  return all;
}

template <class T>
bool same_bits(const std::vector<T>& a, const T* b) {
  return a.empty() || std::memcmp(a.data(), b, a.size() * sizeof(T)) == 0;
}

/// `offset` elements: destinations and sources off the vector alignment.
template <class T>
void check(std::size_t sources, std::size_t count, std::size_t offset, bool in_place) {
  auto data = random_sources<T>(sources, count, sources * 1000 + count);
  if (count > 4) {
    data[0][offset] = std::numeric_limits<T>::infinity();
    data[0][offset + 1] = std::numeric_limits<T>::denorm_min();
    data[0][offset + 2] = T{-0.0};
  }
  std::vector<const T*> typed;
  std::vector<const std::byte*> raw;
  for (auto& source : data) {
    typed.push_back(source.data() + offset);
    raw.push_back(reinterpret_cast<const std::byte*>(source.data() + offset));
  }
  std::vector<T> expected(count);
  for (std::size_t i = 0; i < count; ++i) {
    expected[i] = reference::sum_of(typed.data(), static_cast<int>(sources), static_cast<std::int64_t>(i));
  }
  std::vector<T> fresh(count + 3);
  T* const out = in_place ? data[sources / 2].data() + offset : fresh.data() + offset;
  reduce_sum(raw, reinterpret_cast<std::byte*>(out), static_cast<std::int64_t>(count), type_of<T>);
  EXPECT_TRUE(same_bits(expected, out)) << sources << " sources of " << count;
}

TEST(ReduceSum, EqualsTheScalarReferenceBitForBit) {
  for (std::size_t sources = 1; sources <= 17; ++sources) {
    for (const std::size_t count : {0U, 1U, 7U, 64U, 1000U, 4099U}) {
      for (const std::size_t offset : {0U, 1U, 3U}) {
        for (const bool in_place : {false, true}) {
          check<float>(sources, count, offset, in_place);
          check<double>(sources, count, offset, in_place);
        }
      }
    }
  }
}

TEST(ReduceSum, KeepsNaN) {
  std::vector<float> a{std::nanf(""), 1};
  std::vector<float> b{1, 2};
  const std::vector<const std::byte*> raw{reinterpret_cast<std::byte*>(a.data()),
                                          reinterpret_cast<std::byte*>(b.data())};
  reduce_sum(raw, reinterpret_cast<std::byte*>(a.data()), 2, DataType::float32);
  EXPECT_TRUE(std::isnan(a[0]));
  EXPECT_EQ(a[1], 3);
  EXPECT_STRNE(reduce_form(), "");
}

template <class T>
void check_stores(std::size_t sources, std::size_t destinations, std::size_t count, std::size_t offset, Stores stores) {
  auto data = random_sources<T>(sources, count, sources * 77 + count);
  std::vector<const std::byte*> raw;
  for (auto& source : data) raw.push_back(reinterpret_cast<const std::byte*>(source.data() + offset));
  std::vector<T> expected(count + 1);
  reduce_sum(raw, reinterpret_cast<std::byte*>(expected.data()), static_cast<std::int64_t>(count), type_of<T>);
  expected.resize(count);
  std::vector<std::vector<T>> fresh(destinations, std::vector<T>(count + 4, T{-7}));
  std::vector<std::byte*> to;
  // The second destination is a source, as in place.
  for (std::size_t d = 0; d < destinations; ++d) {
    T* const begin = d == 1 ? data.front().data() : fresh[d].data();
    to.push_back(reinterpret_cast<std::byte*>(begin + offset));
  }
  reduce_store(raw, to, static_cast<std::int64_t>(count), type_of<T>, stores);
  for (std::size_t d = 0; d < destinations; ++d) {
    const T* const begin = d == 1 ? data.front().data() : fresh[d].data();
    EXPECT_TRUE(same_bits(expected, begin + offset)) << sources << " to " << destinations << ", " << count;
    if (d != 1) {
      EXPECT_EQ(fresh[d][count + offset], T{-7}) << "beyond the end";
    }
  }
}

TEST(ReduceStore, StoresTheSameSumEverywhere) {
  for (const std::size_t sources : {1U, 2U, 3U, 5U, 16U}) {
    for (const std::size_t destinations : {1U, 2U, 3U, 16U}) {
      for (const std::size_t count : {0U, 1U, 15U, 1024U, 5003U}) {
        for (const std::size_t offset : {0U, 1U, 3U}) {
          for (const Stores stores : {Stores::ordinary, Stores::streaming}) {
            check_stores<float>(sources, destinations, count, offset, stores);
            check_stores<double>(sources, destinations, count, offset, stores);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ringmaster::kernels
