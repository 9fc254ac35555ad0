// SPDX-License-Identifier: Apache-2.0
// Text in and out: sizes, times, suggestions. Sizes accept binary suffixes (64M = 64 MiB); rates are decimal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringmaster {

/// "64M" -> 67108864; also plain numbers, K, G, T, and a trailing B or iB. Nothing if it is no size.
std::optional<std::int64_t> parse_size(std::string_view text);

/// 67108864 -> "64M"; numbers without an exact suffix stay plain.
std::string format_size(std::int64_t bytes);

/// Seconds as "12.3 us", "4.56 ms", "1.20 s": three significant digits.
std::string format_time(double seconds);

/// The nearest candidate by edit distance, if near enough to be meant.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

/// "did you mean 'ring'?" or "one of: ring, tree, ..." for a hint.
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

/// Columns of a terminal that `text` (UTF-8) takes.
std::size_t display_width(std::string_view text);

/// Without blanks and tabs at both ends.
std::string trimmed(std::string_view text);

/// Without control characters: names come from files and must not move the cursor.
std::string printable(std::string_view text);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

}  // namespace ringmaster
