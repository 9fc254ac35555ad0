// SPDX-License-Identifier: Apache-2.0
// The scalar arithmetic of reductions, for host and device: what every other form must equal bit for bit.
#pragma once

#include <cstdint>

#include "kernels/reference/element.hpp"

namespace ringmaster::kernels::reference {

/// Left to right: ((x0 o x1) o x2) o ... for element i of `count` sources, in the wide type, divided by `divisor` and
/// rounded once. count >= 1, divisor >= 1.
template <class T, class Op>
RINGMASTER_HOST_DEVICE inline T combined(const T* const* sources, int count, std::int64_t i, std::int64_t divisor) {
  using Wide = typename Element<T>::Wide;
  Wide total = Element<T>::widen(sources[0][i]);
  for (int k = 1; k < count; ++k) total = Op::apply(total, Element<T>::widen(sources[k][i]));
  return Element<T>::narrow(divisor == 1 ? total : divided(total, divisor));
}

}  // namespace ringmaster::kernels::reference
