// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "base/error.hpp"
#include "device/device.hpp"

namespace ringmaster::device {
namespace {

TEST(Buffer, IsPageAlignedAndZero) {
  for (const std::int64_t bytes : {1, 4096, 4097, 5 << 20}) {
    const Buffer buffer(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 4096, 0U);
    EXPECT_EQ(static_cast<std::int64_t>(buffer.bytes().size()), bytes);
    EXPECT_TRUE(
        std::all_of(buffer.bytes().begin(), buffer.bytes().end(), [](std::byte b) { return b == std::byte{0}; }));
  }
  EXPECT_EQ(Buffer(0).data(), nullptr);
}

TEST(Buffer, MovesItsMemory) {
  Buffer first(100);
  std::byte* const data = first.data();
  Buffer second(std::move(first));
  EXPECT_EQ(second.data(), data);
  Buffer third;
  third = std::move(second);
  EXPECT_EQ(third.data(), data);
  EXPECT_EQ(third.as<double>().size(), 12U);
}

TEST(Buffer, TooLargeIsAnErrorNotACrash) { EXPECT_THROW(Buffer(std::int64_t{1} << 60), SystemError); }

TEST(Device, SaysWhatIsHereAndWhatIsNot) {
  EXPECT_TRUE(available("cpu").ok);
  EXPECT_EQ(resolve("auto"), "cpu");
  EXPECT_FALSE(available("cuda").ok);
  EXPECT_THROW(resolve("cdua"), UserError);
}

}  // namespace
}  // namespace ringmaster::device
