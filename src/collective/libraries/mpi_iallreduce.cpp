// SPDX-License-Identifier: Apache-2.0
// The library's non-blocking allreduce, moved on by MPI_Test: what overlaps without a thread.
#include "base/activity.hpp"
#include "collective/libraries/mpi_call.hpp"

namespace ringmaster::collective {
namespace {

class NonBlockingAllreduce final : public Operation {
 public:
  NonBlockingAllreduce(transport::ProcessGroup& group, const Buffers& buffers)
      : arguments_(detail::mpi_arguments(group, buffers)) {}

 private:
  void do_start() override {
    detail::check_mpi(MPI_Iallreduce(arguments_.input, arguments_.output, arguments_.count, arguments_.type, MPI_SUM,
                                     arguments_.comm, &request_),
                      "MPI_Iallreduce");
  }
  bool do_progress() override {
    int done = 0;
    detail::check_mpi(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) activity().touch();
    return done != 0;
  }
  detail::MpiArguments arguments_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

const Library& mpi_iallreduce_library() {
  static const Library library{"library-nonblocking", "the MPI library's MPI_Iallreduce, moved on between layers",
                               [] { return detail::describe_mpi("MPI_Iallreduce"); }, detail::has_communicator,
                               [](transport::ProcessGroup& group, const Buffers& buffers) {
                                 return std::unique_ptr<Operation>(new NonBlockingAllreduce(group, buffers));
                               }};
  return library;
}

}  // namespace ringmaster::collective
