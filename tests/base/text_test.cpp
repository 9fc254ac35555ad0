// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace ringmaster {
namespace {

TEST(ParseSize, TakesBinarySuffixesAndRefusesTheRest) {
  EXPECT_EQ(parse_size("64M"), 64 << 20);
  EXPECT_EQ(parse_size("64MiB"), 64 << 20);
  EXPECT_EQ(parse_size("1kb"), 1024);
  EXPECT_EQ(parse_size("0"), 0);
  EXPECT_EQ(parse_size("17B"), 17);
  for (const char* wrong : {"", "M", "-1", "1.5M", "1Mi", "1X", "1 M", "99999999999999999999", "9000000000G", "1MM"}) {
    EXPECT_FALSE(parse_size(wrong).has_value()) << wrong;
  }
}

TEST(FormatSize, ReadsBackAsTheSameNumber) {
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1000}, std::int64_t{1024},
                                  std::int64_t{3} << 20, (std::int64_t{1} << 40) + 1, std::int64_t{5} << 50}) {
    EXPECT_EQ(parse_size(format_size(size)), size) << format_size(size);
  }
  EXPECT_EQ(format_size(64 << 20), "64M");
}

TEST(FormatTime, ShowsThreeDigitsAndTheUnitThatFits) {
  EXPECT_EQ(format_time(12.34e-6), "12.3 us");
  EXPECT_EQ(format_time(4.561e-3), "4.56 ms");
  EXPECT_EQ(format_time(1.2), "1.20 s");
  EXPECT_EQ(format_time(999.9e-6), "1.00 ms");
  EXPECT_EQ(format_time(123e-3), "123 ms");
}

TEST(Nearest, MeansWhatWasNearlyTyped) {
  const std::vector<std::string> names{"ring", "recursive-doubling", "tree"};
  EXPECT_EQ(nearest("rign", names), "ring");
  EXPECT_EQ(nearest("recursive_doubling", names), "recursive-doubling");
  EXPECT_EQ(nearest("Ring", names), "ring");
  EXPECT_FALSE(nearest("butterfly", names).has_value());
  EXPECT_EQ(suggestion("rign", names), "did you mean 'ring'?");
  EXPECT_EQ(suggestion("butterfly", names), "one of: ring, recursive-doubling, tree");
}

TEST(DisplayWidth, CountsCodePointsNotBytes) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("\xC3\xA4\xE2\x96\x88"), 2U);
}

TEST(Complaint, NamesPlaceTextAndHint) {
  Complaint complaint;
  complaint.place.file = "a.yaml";
  complaint.place.line = 3;
  complaint.place.column = 7;
  complaint.text = "unknown key 'x'";
  complaint.hint = "did you mean 'y'?";
  EXPECT_EQ(complaint.line(), "a.yaml:3:7: error: unknown key 'x' (did you mean 'y'?)");
  EXPECT_EQ(Place{}.text(), "");
  EXPECT_STREQ(UserError("a", "b").what(), "error: a (b)");
}

TEST(Trimmed, LosesBlanksAtBothEndsOnly) {
  EXPECT_EQ(trimmed(" \ta b\t "), "a b");
  EXPECT_EQ(trimmed(" \t"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Printable, LosesWhatMovesTheCursor) { EXPECT_EQ(printable("a\x1b[2J\r\n\x7f\u00e9"), "a?[2J???\u00e9"); }

}  // namespace
}  // namespace ringmaster
