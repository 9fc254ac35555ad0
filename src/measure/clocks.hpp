// SPDX-License-Identifier: Apache-2.0
// One clock for all ranks: offset and drift against rank 0, from ping-pongs, with the residual error measured. On
// one host every rank already reads the same clock, which is checked, not assumed.
#pragma once

#include "base/clock.hpp"
#include "transport/process_group.hpp"

namespace ringmaster::measure {

class ClockAlignment {
 public:
  /// Collective over `group`. Estimates once; `refresh` again later gives the drift.
  explicit ClockAlignment(transport::ProcessGroup& group);
  void refresh(transport::ProcessGroup& group);

  /// This rank's clock -> rank 0's.
  Nanoseconds to_common(Nanoseconds local) const;
  /// Largest residual of any rank, seconds.
  double residual_s() const { return residual_s_; }
  bool same_clock() const { return same_clock_; }

 private:
  bool same_clock_ = false;
  Nanoseconds reference_ = 0;
  double offset_ns_ = 0;
  double drift_ = 0;
  double residual_s_ = 0;
};

}  // namespace ringmaster::measure
