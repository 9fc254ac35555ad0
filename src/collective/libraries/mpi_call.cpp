// SPDX-License-Identifier: Apache-2.0
#include "collective/libraries/mpi_call.hpp"

#include <limits>

#include "base/error.hpp"
#include "transport/mpi.hpp"

namespace ringmaster::collective::detail {

std::string describe_mpi(const char* call) {
  static const transport::MpiFacts facts = transport::mpi_facts();
  std::string text = std::string(call) + " (" + facts.library;
  for (const auto& [name, value] : facts.settings) {
    const bool tells = name == "pml" || name == "btl" || name.rfind("coll_tuned_", 0) == 0;
    if (tells && value != "0" && value != "false") text += ", " + name + " " + value;
  }
  return text + ")";
}

Verdict has_communicator(const transport::ProcessGroup& group) {
  if (transport::native_communicator(group) != nullptr) return Verdict::yes();
  return Verdict::no(std::string("the library's allreduce needs MPI; this group runs over ") + group.transport_name());
}

MpiArguments mpi_arguments(const transport::ProcessGroup& group, const Buffers& buffers) {
  const auto count = static_cast<std::int64_t>(buffers.output.size()) / size_of(buffers.type);
  if (count > std::numeric_limits<int>::max()) {
    throw UserError("the library's allreduce counts elements in 32 bits; this vector is longer",
                    "use a smaller bucket, or one of ringmaster's schedules");
  }
  const bool in_place = buffers.input.data() == buffers.output.data();
  return {in_place ? MPI_IN_PLACE : buffers.input.data(), buffers.output.data(), static_cast<int>(count),
          buffers.type == DataType::float32 ? MPI_FLOAT : MPI_DOUBLE,
          *static_cast<MPI_Comm*>(transport::native_communicator(group))};
}

}  // namespace ringmaster::collective::detail
