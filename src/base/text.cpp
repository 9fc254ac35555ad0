// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <numeric>

namespace ringmaster {
namespace {

/// Power of 1024 of a suffix letter; -1 for any other letter.
int suffix_power(char letter) {
  switch (std::toupper(static_cast<unsigned char>(letter))) {
    case 'K': return 1;
    case 'M': return 2;
    case 'G': return 3;
    case 'T': return 4;
    default: return -1;
  }
}

/// Edit distance with transpositions of neighbours (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

std::optional<std::int64_t> parse_size(std::string_view text) {
  std::size_t used = 0;
  std::int64_t value = 0;
  while (used < text.size() && text[used] >= '0' && text[used] <= '9') {
    const int digit = text[used] - '0';
    if (value > (std::numeric_limits<std::int64_t>::max() - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
    ++used;
  }
  if (used == 0) return std::nullopt;
  std::string_view rest = text.substr(used);
  int power = 0;
  if (!rest.empty() && suffix_power(rest.front()) > 0) {
    power = suffix_power(rest.front());
    rest.remove_prefix(1);
    if (!rest.empty() && (rest.front() == 'i' || rest.front() == 'I')) {
      rest.remove_prefix(1);
      if (rest.empty()) return std::nullopt;
    }
  }
  if (!rest.empty() && (rest.front() == 'B' || rest.front() == 'b')) rest.remove_prefix(1);
  if (!rest.empty()) return std::nullopt;
  const std::int64_t factor = std::int64_t{1} << (10 * power);
  if (value > std::numeric_limits<std::int64_t>::max() / factor) return std::nullopt;
  return value * factor;
}

std::string format_size(std::int64_t bytes) {
  static constexpr const char* suffixes[] = {"", "K", "M", "G", "T"};
  int power = 0;
  while (power < 4 && bytes != 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++power;
  }
  return std::to_string(bytes) + suffixes[power];
}

std::string format_time(double seconds) {
  if (!std::isfinite(seconds)) return "-";
  const double size = std::fabs(seconds);
  const char* unit = size >= 0.9995 ? "s" : size >= 0.9995e-3 ? "ms" : "us";
  const double scaled = seconds * (*unit == 's' ? 1.0 : *unit == 'm' ? 1e3 : 1e6);
  const double shown = std::fabs(scaled);
  const int digits = shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", scaled, digits, unit);
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string wanted = lower(word);
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(1, wanted.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(wanted, lower(candidate));
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  if (const auto near = nearest(word, candidates)) return "did you mean '" + *near + "'?";
  if (candidates.empty()) return {};
  return "one of: " + join(candidates, ", ");
}

std::size_t display_width(std::string_view text) {
  // Every code point that we print is one column wide: bytes that continue one do not count.
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  return out;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

}  // namespace ringmaster
