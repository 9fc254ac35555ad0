// SPDX-License-Identifier: Apache-2.0
// What no allreduce on shared memory can beat: all ranks copy their vector once, at the same time. Rows of bench with
// the role "bound", measured in turns with the variants.
#pragma once

#include <memory>

#include "collective/operation.hpp"
#include "kernels/cpu/reduce.hpp"

namespace ringmaster::collective {

/// Reads and writes as many bytes as the vector has, within the memory that an allreduce over these buffers touches:
/// from input to output; in place from each half to the other. Waits for nobody.
std::unique_ptr<Operation> make_copy(const Buffers& buffers, kernels::Stores stores);

}  // namespace ringmaster::collective
