// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/text.hpp"

namespace ringmaster::cli {
namespace {

constexpr double line_interval_s = 5;
constexpr int bar_width = 30;

bool wants_bar() {
  if (const char* wish = std::getenv("RINGMASTER_PROGRESS")) return std::string_view(wish) == "bar";
  return isatty(STDERR_FILENO) != 0;
}

constexpr int blocks_for_a_guess = 8;

/// From the pace since the first block: what came before it (the set-up) says nothing about the rest.
std::string remaining(double elapsed_s, int done, int total) {
  if (done < blocks_for_a_guess || total <= 0) return "";
  const int seconds = static_cast<int>(elapsed_s / done * (total - done));
  return seconds >= 60 ? fmt::format(", {} min {:02} s left", seconds / 60, seconds % 60)
                       : fmt::format(", {} s left", seconds);
}

}  // namespace

Progress::Progress() : bar_(wants_bar()) {}

std::string Progress::left(int done, int total) const {
  return remaining(to_seconds(now_ns() - started_), done - first_, total - first_);
}

Progress::~Progress() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::draw_bar(int done, int total, const std::string& what) {
  const int filled = total > 0 ? bar_width * done / total : 0;
  std::string bar;
  for (int i = 0; i < bar_width; ++i) bar += i < filled ? "█" : "░";
  fmt::print(stderr, "\r\x1b[K{} {}/{}{}  {}", bar, done, total, left(done, total), printable(what));
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::show(int done, int total, const std::string& what) {
  const Nanoseconds now = now_ns();
  if (started_ == 0) {
    started_ = now;
    first_ = done;
  }
  if (bar_) {
    draw_bar(done, total, what);
    return;
  }
  const bool last = total > 0 && done >= total;
  if (!last && last_ != 0 && to_seconds(now - last_) < line_interval_s) return;
  last_ = now;
  fmt::print(stderr, "ringmaster: {}/{} blocks{}: {}\n", done, total, left(done, total), printable(what));
}

}  // namespace ringmaster::cli
