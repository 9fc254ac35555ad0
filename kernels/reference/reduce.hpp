// SPDX-License-Identifier: Apache-2.0
// The scalar arithmetic of reductions, for host and device: what every other form must equal bit for bit.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define RINGMASTER_HOST_DEVICE __host__ __device__
#else
#define RINGMASTER_HOST_DEVICE
#endif

namespace ringmaster::kernels::reference {

/// Left to right: ((x0 + x1) + x2) + ... for element i of `count` sources. count >= 1.
template <class T>
RINGMASTER_HOST_DEVICE inline T sum_of(const T* const* sources, int count, std::int64_t i) {
  T total = sources[0][i];
  for (int k = 1; k < count; ++k) total += sources[k][i];
  return total;
}

}  // namespace ringmaster::kernels::reference
