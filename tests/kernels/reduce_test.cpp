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

/// Elements of any type from random numbers of many sizes; integers of all bits.
template <class T>
std::vector<std::vector<T>> random_sources(std::size_t sources, std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<T>> all(sources, std::vector<T>(count + 3));
  for (auto& source : all) {
    for (T& x : source) {
      if constexpr (std::is_floating_point_v<T>) {
        x = static_cast<T>(random.normal() * std::pow(10.0, random.uniform() * 12 - 6));
      } else if constexpr (std::is_integral_v<T>) {
        x = static_cast<T>(random.next());
      } else {
        x = reference::Element<T>::narrow(
            static_cast<float>(random.normal() * std::pow(10.0, random.uniform() * 8 - 4)));
      }
    }
  }
  return all;
}

template <class T>
void plant_special_values(std::vector<T>& values, std::size_t offset) {
  if constexpr (std::is_integral_v<T>) {
    values[offset] = std::numeric_limits<T>::max();
    values[offset + 1] = std::numeric_limits<T>::min();
  } else if constexpr (std::is_floating_point_v<T>) {
    values[offset] = std::numeric_limits<T>::infinity();
    values[offset + 1] = std::numeric_limits<T>::denorm_min();
    values[offset + 2] = T{-0.0};
  } else {
    values[offset] = reference::Element<T>::narrow(std::numeric_limits<float>::infinity());
    values[offset + 1] = T{1};  // the smallest denormal
    values[offset + 2] = T{0x8000};
  }
}

template <class T>
bool same_bits(const std::vector<T>& a, const T* b) {
  return a.empty() || std::memcmp(a.data(), b, a.size() * sizeof(T)) == 0;
}

template <class T>
std::vector<T> expected_of(const std::vector<const T*>& sources, std::size_t count, const Arithmetic& arithmetic) {
  std::vector<T> all(count);
  const auto k = static_cast<int>(sources.size());
  for (std::size_t n = 0; n < count; ++n) {
    const auto i = static_cast<std::int64_t>(n);
    switch (arithmetic.reduction) {
      case Reduction::min: all[n] = reference::combined<T, reference::Min>(sources.data(), k, i, 1); break;
      case Reduction::max: all[n] = reference::combined<T, reference::Max>(sources.data(), k, i, 1); break;
      default: all[n] = reference::combined<T, reference::Sum>(sources.data(), k, i, arithmetic.divisor);
    }
  }
  return all;
}

enum class Where { fresh, in_place };

/// `offset` elements: destinations and sources off the vector alignment.
template <class T>
void check(std::size_t sources, std::size_t count, std::size_t offset, Where where, const Arithmetic& arithmetic) {
  auto data = random_sources<T>(sources, count, sources * 1000 + count);
  if (count > 4) plant_special_values(data[0], offset);
  std::vector<const T*> typed;
  std::vector<const std::byte*> raw;
  for (auto& source : data) {
    typed.push_back(source.data() + offset);
    raw.push_back(reinterpret_cast<const std::byte*>(source.data() + offset));
  }
  const std::vector<T> expected = expected_of(typed, count, arithmetic);
  std::vector<T> fresh(count + 3);
  T* const out = where == Where::in_place ? data[sources / 2].data() + offset : fresh.data() + offset;
  reduce(raw, reinterpret_cast<std::byte*>(out), static_cast<std::int64_t>(count), arithmetic);
  EXPECT_TRUE(same_bits(expected, out)) << sources << " sources of " << count << " " << name_of(arithmetic.type) << " "
                                        << name_of(arithmetic.reduction) << " / " << arithmetic.divisor;
}

/// Sums, partial and complete ones of an average, and extremes.
std::vector<Arithmetic> arithmetics(DataType type) {
  return {{type, Reduction::sum, 1}, {type, Reduction::sum, 3}, {type, Reduction::min, 1}, {type, Reduction::max, 1}};
}

template <class T>
void check_all(DataType type) {
  for (const Arithmetic& arithmetic : arithmetics(type)) {
    for (std::size_t sources = 1; sources <= 17; ++sources) {
      for (const std::size_t count : {0U, 1U, 7U, 64U, 1000U, 4099U}) {
        for (const std::size_t offset : {0U, 1U, 3U}) {
          check<T>(sources, count, offset, Where::fresh, arithmetic);
          check<T>(sources, count, offset, Where::in_place, arithmetic);
        }
      }
    }
  }
}

TEST(Reduce, EqualsTheScalarReferenceBitForBit) {
  check_all<float>(DataType::float32);
  check_all<double>(DataType::float64);
  check_all<Float16>(DataType::float16);
  check_all<BFloat16>(DataType::bfloat16);
  check_all<std::int8_t>(DataType::int8);
  check_all<std::uint8_t>(DataType::uint8);
  check_all<std::int32_t>(DataType::int32);
  check_all<std::int64_t>(DataType::int64);
}

TEST(Reduce, KeepsNaN) {
  for (const Reduction reduction : {Reduction::sum, Reduction::min, Reduction::max}) {
    for (const bool first : {true, false}) {
      std::vector<float> a{first ? std::nanf("") : 5, 1};
      std::vector<float> b{first ? 1 : std::nanf(""), 2};
      const std::vector<const std::byte*> raw{reinterpret_cast<std::byte*>(a.data()),
                                              reinterpret_cast<std::byte*>(b.data())};
      reduce(raw, reinterpret_cast<std::byte*>(a.data()), 2, {DataType::float32, reduction, 1});
      EXPECT_TRUE(std::isnan(a[0])) << name_of(reduction);
      EXPECT_EQ(a[1], reduction == Reduction::sum ? 3 : reduction == Reduction::min ? 1 : 2);
    }
  }
  EXPECT_STRNE(reduce_form(), "");
}

TEST(Reduce, AnAverageIsDividedOnce) {
  EXPECT_EQ(arithmetic_of(DataType::float32, Reduction::average, 7, Sum::partial).divisor, 1);
  EXPECT_EQ(arithmetic_of(DataType::float32, Reduction::average, 7, Sum::complete).divisor, 7);
  EXPECT_EQ(arithmetic_of(DataType::float32, Reduction::max, 7, Sum::complete).divisor, 1);
  // 100 + 100 - 100 = 100 although the first sum wraps; -7 / 2 is rounded towards zero.
  const std::vector<std::int8_t> a{100, -4};
  const std::vector<std::int8_t> b{100, -3};
  const std::vector<const std::byte*> raw{reinterpret_cast<const std::byte*>(a.data()),
                                          reinterpret_cast<const std::byte*>(b.data())};
  std::vector<std::int8_t> out(2);
  reduce(raw, reinterpret_cast<std::byte*>(out.data()), 2, {DataType::int8, Reduction::sum, 2});
  EXPECT_EQ(out, (std::vector<std::int8_t>{-28, -3}));
}

template <class T>
void check_stores(std::size_t sources, std::size_t destinations, std::size_t count, std::size_t offset, Stores stores,
                  const Arithmetic& arithmetic) {
  auto data = random_sources<T>(sources, count, sources * 77 + count);
  std::vector<const std::byte*> raw;
  for (auto& source : data) raw.push_back(reinterpret_cast<const std::byte*>(source.data() + offset));
  std::vector<T> expected(count + 1);
  reduce(raw, reinterpret_cast<std::byte*>(expected.data()), static_cast<std::int64_t>(count), arithmetic);
  expected.resize(count);
  const T mark = random_sources<T>(1, 1, 9)[0][0];
  std::vector<std::vector<T>> fresh(destinations, std::vector<T>(count + 4, mark));
  std::vector<std::byte*> to;
  // The second destination is a source, as in place.
  for (std::size_t d = 0; d < destinations; ++d) {
    T* const begin = d == 1 ? data.front().data() : fresh[d].data();
    to.push_back(reinterpret_cast<std::byte*>(begin + offset));
  }
  reduce_store(raw, to, static_cast<std::int64_t>(count), arithmetic, stores);
  for (std::size_t d = 0; d < destinations; ++d) {
    const T* const begin = d == 1 ? data.front().data() : fresh[d].data();
    EXPECT_TRUE(same_bits(expected, begin + offset)) << sources << " to " << destinations << ", " << count;
    if (d != 1) {
      EXPECT_EQ(std::memcmp(&fresh[d][count + offset], &mark, sizeof(T)), 0) << "beyond the end";
    }
  }
}

TEST(ReduceStore, StoresTheSameEverywhere) {
  for (const std::size_t sources : {1U, 2U, 3U, 5U, 16U}) {
    for (const std::size_t destinations : {1U, 2U, 3U, 16U}) {
      for (const std::size_t count : {0U, 1U, 15U, 1024U, 5003U}) {
        for (const std::size_t offset : {0U, 1U, 3U}) {
          for (const Stores stores : {Stores::ordinary, Stores::streaming}) {
            check_stores<float>(sources, destinations, count, offset, stores, {DataType::float32});
            check_stores<double>(sources, destinations, count, offset, stores, {DataType::float64});
            check_stores<std::uint8_t>(sources, destinations, count, offset, stores, {DataType::uint8, Reduction::max});
            check_stores<BFloat16>(sources, destinations, count, offset, stores,
                                   {DataType::bfloat16, Reduction::sum, 5});
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ringmaster::kernels
