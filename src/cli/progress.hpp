// SPDX-License-Identifier: Apache-2.0
// Progress of a long command on stderr: a bar that is redrawn on a terminal, plain lines now and then elsewhere.
#pragma once

#include <string>

#include "base/clock.hpp"

namespace ringmaster::cli {

class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `total` 0: unknown.
  void show(int done, int total, const std::string& what);

 private:
  std::string left(int done, int total) const;
  void draw_bar(int done, int total, const std::string& what);

  bool bar_ = false;
  bool drawn_ = false;
  Nanoseconds started_ = 0;  // when the first block was done
  int first_ = 0;
  Nanoseconds last_ = 0;
};

}  // namespace ringmaster::cli
