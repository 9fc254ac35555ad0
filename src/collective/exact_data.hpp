// SPDX-License-Identifier: Apache-2.0
// Vectors whose reduction is the same in any order and any grouping, in every element type: small whole numbers. What
// differs from it is wrong. Pure functions of their arguments; thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/data_type.hpp"

namespace ringmaster::collective {

/// A rank's vector. `salt` makes another one. Whole elements.
void fill_exact(std::span<std::byte> vector, DataType type, int rank, std::uint64_t salt = 0);

/// What of `ranks` such vectors is left when they are combined element by element: elements that differ from it.
std::int64_t count_wrong(std::span<const std::byte> vector, DataType type, Reduction reduction, int ranks,
                         std::uint64_t salt = 0);

}  // namespace ringmaster::collective
