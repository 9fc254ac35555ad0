// SPDX-License-Identifier: Apache-2.0
// Text for a terminal: colours (only where asked for), tables that fit a width, wrapped paragraphs. Widths are columns
// of the screen, not bytes. Internal to `report`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace ringmaster::report {

enum class Style { plain, bold, dim, good, bad, warning };

class Painter {
 public:
  explicit Painter(bool color) : color_(color) {}
  std::string paint(const std::string& text, Style style) const;
  /// In one of the 256 terminal colours.
  std::string tint(const std::string& text, int color) const;

 private:
  bool color_;
};

enum class Align { left, right };

/// The columns with the highest `drop_order` go first where the width does not suffice; 0 stays.
struct Column {
  std::string title;
  Align align = Align::right;
  int drop_order = 0;
};

struct Cell {
  std::string text;
  Style style = Style::plain;
  std::string painted = {};  // of the same width as `text`: shown instead
};

/// The first column is cut where the others leave it too little room.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  /// Lines with "\n", each at most `width` wide, indented by two.
  std::string text(const Painter& painter, int width) const;

 private:
  std::vector<std::size_t> widths() const;
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// Cut to so many columns, "~" at the end where something is missing.
std::string cut(const std::string& text, std::size_t width);
/// Words in lines of at most `width`, the first after `first`, the others after `next`.
std::string wrapped(const std::string& text, int width, const std::string& first, const std::string& next);

}  // namespace ringmaster::report
