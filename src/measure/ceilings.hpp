// SPDX-License-Identifier: Apache-2.0
// What this machine can do at best, measured in the same run and with the same threads.
#pragma once

#include "result/schema.hpp"
#include "transport/process_group.hpp"

namespace ringmaster::measure {

/// Collective over `group`. `gemm_seconds` runs one n = 1024 sgemm and returns its time (this module knows no BLAS).
result::Ceilings measure_ceilings(transport::ProcessGroup& group, double (*gemm_seconds)(int n));

/// Collective over `group`. The GEMM rate of now, GFLOP/s a rank (mean): the machine drifts, so that a run measures
/// it again in every round.
double measure_gemm(transport::ProcessGroup& group, double (*gemm_seconds)(int n));

}  // namespace ringmaster::measure
