// SPDX-License-Identifier: Apache-2.0
#include "report/table.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "base/text.hpp"

namespace ringmaster::report {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t least_label = 16;

std::string padded(const std::string& text, const std::string& shown, std::size_t width, Align align) {
  const std::size_t taken = display_width(text);
  const std::string space(width > taken ? width - taken : 0, ' ');
  return align == Align::right ? space + shown : shown + space;
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::string Painter::paint(const std::string& text, Style style) const {
  if (!color_ || style == Style::plain || text.empty()) return text;
  const char* code = style == Style::bold   ? "1"
                     : style == Style::dim  ? "2"
                     : style == Style::good ? "32"
                     : style == Style::bad  ? "31"
                                            : "33";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string Painter::tint(const std::string& text, int color) const {
  return color_ && !text.empty() ? fmt::format("\x1b[38;5;{}m{}\x1b[0m", color, text) : text;
}

std::string cut(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return text;
  std::string out = text;
  while (!out.empty() && display_width(out) + 1 > width) {
    do {
      out.pop_back();
    } while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0U) == 0x80U);
    // What remains must not end inside a character.
    if (!out.empty() && (static_cast<unsigned char>(out.back()) & 0x80U) != 0 && display_width(out) == 0) out.clear();
  }
  return width == 0 ? std::string() : out + "~";
}

std::string wrapped(const std::string& text, int width, const std::string& first, const std::string& next) {
  std::istringstream words(text);
  std::string out;
  std::string line = first;
  bool empty = true;
  for (std::string word; words >> word;) {
    if (!empty && display_width(line) + 1 + display_width(word) > static_cast<std::size_t>(std::max(width, 20))) {
      out += without_trailing_spaces(line) + "\n";
      line = next;
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
  }
  return out + without_trailing_spaces(line) + "\n";
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = display_width(columns_[c].title);
    for (const auto& row : rows_) width = std::max(width, c < row.size() ? display_width(row[c].text) : 0);
    widths.push_back(width);
  }
  return widths;
}

std::string Table::text(const Painter& painter, int width) const {
  std::vector<std::size_t> column_width = widths();
  std::vector<bool> shown(columns_.size(), true);
  const auto room = static_cast<std::size_t>(std::max(width, 40));
  const auto total = [&](std::size_t label) {
    std::size_t sum = gap + label;
    for (std::size_t c = 1; c < columns_.size(); ++c) sum += shown[c] ? gap + column_width[c] : 0;
    return sum;
  };
  const std::size_t label = std::min(column_width[0], least_label);
  for (;;) {  // the least important columns go until the shortest label fits
    std::size_t goes = 0;
    for (std::size_t c = 1; c < columns_.size(); ++c) {
      if (shown[c] && columns_[c].drop_order > (goes == 0 ? 0 : columns_[goes].drop_order)) goes = c;
    }
    if (goes == 0 || total(label) <= room) break;
    shown[goes] = false;
  }
  const std::size_t others = total(0);
  column_width[0] = std::min(column_width[0], std::max(label, room > others ? room - others : 0));
  std::string out;
  const auto add_line = [&](const std::vector<Cell>& cells) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!shown[c]) continue;
      const Cell cell = c < cells.size() ? cells[c] : Cell{};
      const std::string plain = cut(cell.text, column_width[c]);
      const std::string painted =
          !cell.painted.empty() && plain == cell.text ? cell.painted : painter.paint(plain, cell.style);
      line += "  " + padded(plain, painted, column_width[c], columns_[c].align);
    }
    out += without_trailing_spaces(line) + "\n";
  };
  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.push_back({column.title, Style::dim});
  add_line(titles);
  for (const auto& row : rows_) add_line(row);
  return out;
}

}  // namespace ringmaster::report
