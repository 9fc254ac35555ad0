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

/// The most sources that reduce_store takes: ranks of a node.
constexpr std::size_t most_sources = 1024;

/// How a result is stored: through the caches (it will be read soon, or was just read), or past them.
enum class Stores : std::uint8_t { ordinary, streaming };

/// The same sum into several destinations, read once: what was just added is stored to each of them while it is in
/// the nearest cache. A destination may be a source, but may not overlap one partly; destinations do not overlap each
/// other. Streaming stores are ordered before later ones (a fence ends them); where a destination is not aligned to
/// 16 bytes its stores are ordinary. Same bits as reduce_sum.
void reduce_store(std::span<const std::byte* const> sources, std::span<std::byte* const> destinations,
                  std::int64_t count, DataType type, Stores stores);

/// The form that this processor runs: "avx512", "avx2" or "baseline".
const char* reduce_form();

}  // namespace ringmaster::kernels
