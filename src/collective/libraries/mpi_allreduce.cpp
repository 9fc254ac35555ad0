// SPDX-License-Identifier: Apache-2.0
// The library's own blocking allreduce: the baseline of every table.
#include "collective/libraries/mpi_call.hpp"

namespace ringmaster::collective {
namespace {

class BlockingAllreduce final : public Operation {
 public:
  BlockingAllreduce(transport::ProcessGroup& group, const Buffers& buffers)
      : arguments_(detail::mpi_arguments(group, buffers)) {}
  bool blocks() const override { return true; }

 private:
  void do_start() override {}
  bool do_progress() override {
    detail::check_mpi(
        MPI_Allreduce(arguments_.input, arguments_.output, arguments_.count, arguments_.type, MPI_SUM, arguments_.comm),
        "MPI_Allreduce");
    return true;
  }
  detail::MpiArguments arguments_;
};

}  // namespace

const Library& mpi_allreduce_library() {
  static const Library library{"library", "the MPI library's own MPI_Allreduce",
                               [] { return detail::describe_mpi("MPI_Allreduce"); }, detail::has_communicator,
                               [](transport::ProcessGroup& group, const Buffers& buffers) {
                                 return std::unique_ptr<Operation>(new BlockingAllreduce(group, buffers));
                               }};
  return library;
}

}  // namespace ringmaster::collective
