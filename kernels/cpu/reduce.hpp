// SPDX-License-Identifier: Apache-2.0
// Several vectors combined in one pass: k reads and one write an element, however many sources there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/data_type.hpp"

namespace ringmaster::kernels {

/// How elements combine: by sum, min or max; what comes out is divided by `divisor` (1: not at all). Half types are
/// added and divided in float and rounded once a pass.
struct Arithmetic {
  DataType type = DataType::float32;
  Reduction reduction = Reduction::sum;  // never average: that is a sum with a divisor
  std::int64_t divisor = 1;
};

/// Whether a sum still lacks the contributions of some ranks.
enum class Sum : std::uint8_t { partial, complete };
/// Of one pass of an allreduce over `ranks` ranks.
constexpr Arithmetic arithmetic_of(DataType type, Reduction reduction, int ranks, Sum sum) {
  if (reduction != Reduction::average) return {type, reduction, 1};
  return {type, Reduction::sum, sum == Sum::complete ? ranks : 1};
}

/// destination[i] = ((s0[i] o s1[i]) o s2[i]) o ... for `count` elements. Any alignment that the type needs;
/// destination may be one of the sources, but may not overlap one partly. Bit for bit the scalar reference, on every
/// processor. Allocates nothing; thread safe on distinct destinations.
void reduce(std::span<const std::byte* const> sources, std::byte* destination, std::int64_t count,
            const Arithmetic& arithmetic);

/// The most sources that reduce_store takes: ranks of a node.
constexpr std::size_t most_sources = 1024;

/// How a result is stored: through the caches (it will be read soon, or was just read), or past them.
enum class Stores : std::uint8_t { ordinary, streaming };

/// The same into several destinations, read once: what was just combined is stored to each of them while it is in
/// the nearest cache. A destination may be a source, but may not overlap one partly; destinations do not overlap each
/// other. Streaming stores are ordered before later ones (a fence ends them); where a destination is not aligned to
/// 16 bytes its stores are ordinary. Same bits as reduce.
void reduce_store(std::span<const std::byte* const> sources, std::span<std::byte* const> destinations,
                  std::int64_t count, const Arithmetic& arithmetic, Stores stores);

/// The form that this processor runs: "avx512", "avx2" or "baseline".
const char* reduce_form();

}  // namespace ringmaster::kernels
