// SPDX-License-Identifier: Apache-2.0
#include "report/html_charts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/text.hpp"
#include "report/bench_summary.hpp"

namespace ringmaster::report {
namespace {

constexpr std::array<const char*, account::account_count> account_colors{"#d9a441", "#7aa6c9", "#2f78b7", "#d6455d",
                                                                         "#e8833a", "#f2b36b", "#9c7fc4", "#5aa36b",
                                                                         "#9aa5ad", "#b565a7", "#c3ccd2", "#e0383e"};
constexpr std::array line_colors{"#2f78b7", "#e8833a", "#5aa36b", "#9c7fc4",
                                 "#d6455d", "#d9a441", "#3fa7a7", "#8a6d3b"};
constexpr double chart_width = 1100;

const char* line_color(std::size_t i) { return line_colors[i % line_colors.size()]; }

std::string svg(double height, const std::string& body) {
  return fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" width=\"100%\" role=\"img\">\n{}</svg>\n", chart_width, height,
                     body);
}

std::string text_at(double x, double y, const std::string& text, const char* anchor = "start") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escaped(text));
}

std::string box(double x, double y, double width, double height, const std::string& color, const std::string& title) {
  return fmt::format(
      "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\"><title>{}</title></rect>\n", x, y,
      width, height, color, escaped(title));
}

struct Line {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

/// Axes with their ends named, a polyline a series, a legend below.
struct Plot {
  double left = 70, right = chart_width - 20, top = 12, bottom = 240;
  double x_low = 0, x_high = 1, y_low = 0, y_high = 1;

  void fit(const std::vector<Line>& lines) {
    bool first = true;
    for (const Line& line : lines) {
      for (const auto& [x, y] : line.points) {
        x_low = first ? x : std::min(x_low, x);
        x_high = first ? x : std::max(x_high, x);
        y_low = first ? y : std::min(y_low, y);
        y_high = first ? y : std::max(y_high, y);
        first = false;
      }
    }
    if (x_high <= x_low) x_high = x_low + 1;
    if (y_high <= y_low) y_high = y_low + 1;
  }
  double x_at(double x) const { return left + (x - x_low) / (x_high - x_low) * (right - left); }
  double y_at(double y) const { return bottom - (y - y_low) / (y_high - y_low) * (bottom - top); }

  std::string frame(const std::string& low, const std::string& high) const {
    std::string body;
    for (int i = 0; i <= 4; ++i) {
      const double y = y_low + (y_high - y_low) * i / 4;
      body += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>\n", left,
                          right, y_at(y));
      body += text_at(left - 8, y_at(y) + 4, fmt::format("{:.3g}", y), "end");
    }
    return body + text_at(left, bottom + 18, low) + text_at(right, bottom + 18, high, "end");
  }
  std::string draw(const std::vector<Line>& lines) const {
    std::string body;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      std::string points;
      for (const auto& [x, y] : lines[i].points) points += fmt::format("{:.1f},{:.1f} ", x_at(x), y_at(y));
      body += fmt::format(
          "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" points=\"{}\"><title>{}</title></polyline>\n",
          line_color(i), points, escaped(lines[i].name));
    }
    return body;
  }
};

std::string line_legend(const std::vector<Line>& lines) {
  std::string text = "<p class=\"dim\">";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += fmt::format("<span class=\"key\" style=\"background:{}\"></span>{}", line_color(i), escaped(lines[i].name));
  }
  return text + "</p>\n";
}

std::size_t account_of_event(const std::string& name) {
  const std::string key = name == "exposed_wait" ? "exposed_transfer" : name;
  for (std::size_t a = 0; a < result::account_keys.size(); ++a) {
    if (key == result::account_keys[a]) return a;
  }
  return result::account_keys.size();
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      case '\n':
      case '\t': out += c; break;
      default: out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    }
  }
  return out;
}

std::string account_chart(const std::vector<const PointSummary*>& rows) {
  constexpr double left = 210;
  constexpr double row_height = 26;
  double longest = 0;
  for (const PointSummary* row : rows) longest = std::max(longest, row->step_s.value);
  std::string body;
  std::array<bool, account::account_count> used{};
  double y = 4;
  for (const PointSummary* row : rows) {
    body += text_at(left - 10, y + 15, row->label, "end");
    double x = left;
    for (std::size_t a = 0; a < row->share.size() && longest > 0; ++a) {
      const double seconds = std::max(row->share[a], 0.0) * row->step_s.value;
      const double width = seconds / longest * (chart_width - left - 90);
      if (width < 0.05) continue;
      used[a] = true;
      body += box(x, y, width, row_height - 6, account_colors[a],
                  fmt::format("{}: {} ({:.1f} %)", result::account_keys[a], format_time(seconds), 100 * row->share[a]));
      x += width;
    }
    body += text_at(x + 8, y + 15, format_time(row->step_s.value));
    y += row_height;
  }
  std::string legend = "<p class=\"dim\">";
  for (std::size_t a = 0; a < used.size(); ++a) {
    if (used[a])
      legend += fmt::format("<span class=\"key\" style=\"background:{}\"></span>{}", account_colors[a],
                            result::account_keys[a]);
  }
  return svg(y + 4, body) + legend + "</p>\n";
}

std::string loss_chart(const result::Run& run, const std::vector<const PointSummary*>& rows) {
  std::vector<Line> lines;
  double entropy = 0;
  for (const PointSummary* row : rows) {
    Line line{row->label, {}};
    entropy = std::max(entropy, row->point->unigram_entropy);
    for (const result::Block& block : run.blocks) {
      if (block.point != row->point->id) continue;
      for (std::size_t i = 0; i < block.loss.size(); ++i) {
        if (std::isfinite(block.loss[i]))
          line.points.emplace_back(block.first_step + static_cast<double>(i), block.loss[i]);
      }
    }
    std::sort(line.points.begin(), line.points.end());
    if (!line.points.empty()) lines.push_back(std::move(line));
  }
  if (lines.empty()) return {};
  Plot plot;
  plot.fit(lines);
  if (entropy > 0) plot.y_low = std::min(plot.y_low, entropy);
  std::string body = plot.frame(fmt::format("step {:.0f}", plot.x_low), fmt::format("step {:.0f}", plot.x_high));
  if (entropy > 0 && entropy <= plot.y_high) {
    body += fmt::format(
        "<line stroke=\"#d6455d\" stroke-dasharray=\"6 4\" x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" "
        "y2=\"{2:.1f}\"/>\n",
        plot.left, plot.right, plot.y_at(entropy));
    body += text_at(plot.right, plot.y_at(entropy) - 5, fmt::format("unigram entropy {:.3f}", entropy), "end");
  }
  return svg(plot.bottom + 30, body + plot.draw(lines)) + line_legend(lines);
}

std::string timeline_chart(const result::Run& run) {
  const result::TraceEvent* last = nullptr;
  for (const result::TraceEvent& event : run.trace) {
    if (event.name == "step" && event.rank == 0 && (last == nullptr || event.begin_us > last->begin_us)) last = &event;
  }
  if (last == nullptr || last->duration_us <= 0) return {};
  constexpr double left = 110;
  constexpr double lane_height = 18;
  const double scale = (chart_width - left - 10) / (last->duration_us * 1.05);
  std::string body;
  int ranks = 0;
  for (const result::TraceEvent& event : run.trace) {
    const double begin = event.begin_us - last->begin_us;
    if (event.name == "step" || begin + event.duration_us <= 0 || begin >= last->duration_us * 1.05) continue;
    ranks = std::max(ranks, event.rank + 1);
    const bool engine = event.lane == "engine";
    const std::size_t a = account_of_event(event.name);
    if (!engine && (a == result::account_keys.size() || event.duration_us <= 0)) continue;
    const double y = event.rank * (2 * lane_height + 10) + (engine ? lane_height : 0) + 4;
    const double x = left + std::max(begin, 0.0) * scale;
    const double end = left + std::min(begin + event.duration_us, last->duration_us * 1.05) * scale;
    const std::string what = event.index < 0 ? event.name : fmt::format("{} {}", event.name, event.index);
    body += box(x, y, std::max(end - x, 0.3), lane_height - 3, engine ? "#e8833a" : account_colors[a],
                fmt::format("{}: {}", what, format_time(event.duration_us * 1e-6)));
  }
  for (int rank = 0; rank < ranks; ++rank) {
    const double y = rank * (2 * lane_height + 10) + 4;
    body += text_at(left - 8, y + 12, fmt::format("rank {}", rank), "end") +
            text_at(left - 8, y + lane_height + 12, "engine", "end");
  }
  return svg(ranks * (2 * lane_height + 10) + 8, body);
}

std::string bench_chart(const result::Run& run) {
  std::vector<Line> lines;
  for (const result::BenchRow& row : run.rows) {
    if (row.role == "bound") continue;  // it has no ranks to divide by
    const BenchSide side = summarize_side(row.out_of_place, row.bytes, run.ranks);
    if (!(side.time_us > 0) || row.bytes <= 0) continue;
    auto at = std::find_if(lines.begin(), lines.end(), [&](const Line& line) { return line.name == row.variant; });
    if (at == lines.end()) at = lines.insert(lines.end(), {row.variant, {}});
    at->points.emplace_back(std::log2(static_cast<double>(row.bytes)), side.busbw_gb_per_s);
  }
  if (lines.empty()) return {};
  Plot plot;
  plot.fit(lines);
  plot.y_low = 0;
  const auto size = [](double log2) { return format_size(static_cast<std::int64_t>(std::llround(std::exp2(log2)))); };
  return "<h2>Bus bandwidth, GB/s</h2>\n" +
         svg(plot.bottom + 30, plot.frame(size(plot.x_low), size(plot.x_high)) + plot.draw(lines)) + line_legend(lines);
}

}  // namespace ringmaster::report
