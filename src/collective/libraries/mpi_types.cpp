// SPDX-License-Identifier: Apache-2.0
#include "collective/libraries/mpi_types.hpp"

#include <array>
#include <cstddef>

#include "kernels/cpu/reduce.hpp"
#include "transport/mpi_check.hpp"

namespace ringmaster::collective::detail {
namespace {

using transport::check_mpi;

bool is_half(DataType type) { return type == DataType::float16 || type == DataType::bfloat16; }

MPI_Datatype make_half() {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check_mpi(MPI_Type_contiguous(2, MPI_BYTE, &made), "MPI_Type_contiguous");
  check_mpi(MPI_Type_commit(&made), "MPI_Type_commit");
  return made;
}

/// inout = in o inout, as MPI calls it.
template <DataType type, Reduction reduction>
void combine_pair(void* in, void* inout, int* count, MPI_Datatype*) {
  const std::array<const std::byte*, 2> sources{static_cast<const std::byte*>(in), static_cast<std::byte*>(inout)};
  kernels::reduce(sources, static_cast<std::byte*>(inout), *count, {type, reduction, 1});
}

template <DataType type, Reduction reduction>
MPI_Op half_operation() {
  static const MPI_Op operation = [] {
    MPI_Op made = MPI_OP_NULL;
    check_mpi(MPI_Op_create(combine_pair<type, reduction>, 1, &made), "MPI_Op_create");
    return made;
  }();
  return operation;
}

template <DataType type>
MPI_Op half_operation(Reduction reduction) {
  switch (reduction) {
    case Reduction::min: return half_operation<type, Reduction::min>();
    case Reduction::max: return half_operation<type, Reduction::max>();
    default: return half_operation<type, Reduction::sum>();
  }
}

}  // namespace

MPI_Datatype mpi_type(DataType type) {
  switch (type) {
    case DataType::float32: return MPI_FLOAT;
    case DataType::float64: return MPI_DOUBLE;
    case DataType::int8: return MPI_INT8_T;
    case DataType::uint8: return MPI_UINT8_T;
    case DataType::int32: return MPI_INT32_T;
    case DataType::int64: return MPI_INT64_T;
    default: {
      static const MPI_Datatype half = make_half();
      return half;
    }
  }
}

MPI_Op mpi_operation(DataType type, Reduction reduction) {
  if (type == DataType::float16) return half_operation<DataType::float16>(reduction);
  if (type == DataType::bfloat16) return half_operation<DataType::bfloat16>(reduction);
  switch (reduction) {
    case Reduction::min: return MPI_MIN;
    case Reduction::max: return MPI_MAX;
    default: return MPI_SUM;
  }
}

const char* added_by(DataType type) { return is_half(type) ? ", added by ringmaster's function" : ""; }

}  // namespace ringmaster::collective::detail
