// SPDX-License-Identifier: Apache-2.0
// Charts of the HTML page as inline SVG; they carry their texts escaped. Internal to `report`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/summary.hpp"
#include "result/schema.hpp"

namespace ringmaster::report {

/// For HTML text and attributes; control characters go.
std::string escaped(std::string_view text);

/// A stacked bar a row, as long as its step.
std::string account_chart(const std::vector<const PointSummary*>& rows);
/// Loss over steps, a line a row; the entropy of the data dashed.
std::string loss_chart(const result::Run& run, const std::vector<const PointSummary*>& rows);
/// Both lanes of each rank in the last recorded step. Empty without a trace.
std::string timeline_chart(const result::Run& run);
/// Bus bandwidth over size, a line a variant.
std::string bench_chart(const result::Run& run);

}  // namespace ringmaster::report
