// SPDX-License-Identifier: Apache-2.0
// Threads of the matrix products, and how fast those are. The same thread count gives the same bits; another may not:
// a product's sums are then cut differently.
#pragma once

#include <string>

namespace ringmaster::tensor {

/// Threads that products use from now on, process-wide. At least 1.
void set_threads(int threads);
/// Seconds of one n x n x n product in single precision with the current threads, after one that is not timed.
double gemm_seconds(int n);
/// Version, kernels chosen for this processor and threading of the library.
std::string blas_description();

}  // namespace ringmaster::tensor
