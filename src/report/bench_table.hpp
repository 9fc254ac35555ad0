// SPDX-License-Identifier: Apache-2.0
// The table of a bench run in nccl-tests' columns (sizes in bytes, times in us, 1 GB = 1e9 bytes). Internal to
// `report`.
#pragma once

#include <iosfwd>

#include "report/table.hpp"
#include "result/schema.hpp"

namespace ringmaster::report {

void write_bench_table(const result::Run& run, const Painter& painter, std::ostream& out);

}  // namespace ringmaster::report
