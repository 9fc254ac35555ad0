// SPDX-License-Identifier: Apache-2.0
// Sums of several vectors in one pass: k reads and one write an element, however many sources there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/data_type.hpp"

namespace ringmaster::kernels {

/// destination[i] = ((s0[i] + s1[i]) + s2[i]) + ... for `count` elements. Any alignment that the type needs;
/// destination may be one of the sources, but may not overlap one partly. Bit for bit the scalar reference, on every
/// processor. Allocates nothing; thread safe on distinct destinations.
void reduce_sum(std::span<const std::byte* const> sources, std::byte* destination, std::int64_t count, DataType type);

/// The form that this processor runs: "avx512", "avx2" or "baseline".
const char* reduce_form();

}  // namespace ringmaster::kernels
