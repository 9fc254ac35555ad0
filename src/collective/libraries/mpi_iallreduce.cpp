// SPDX-License-Identifier: Apache-2.0
// The library's non-blocking allreduce, moved on by MPI_Test: what overlaps without a thread.
#include <utility>

#include "base/activity.hpp"
#include "collective/libraries/mpi_call.hpp"

namespace ringmaster::collective {
namespace {

class NonBlockingOperation final : public Operation {
 public:
  explicit NonBlockingOperation(detail::MpiArguments arguments) : arguments_(std::move(arguments)) {}

 private:
  void do_start() override {
    detail::check_mpi(MPI_Iallreduce(arguments_.input, arguments_.output, arguments_.count, arguments_.type,
                                     arguments_.operation, *arguments_.comm, &request_),
                      "MPI_Iallreduce");
  }
  bool do_progress() override {
    int done = 0;
    detail::check_mpi(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done == 0) return false;
    activity().touch();
    arguments_.divide();
    return true;
  }
  detail::MpiArguments arguments_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

class NonBlocking final : public LibraryAllreduce {
 public:
  explicit NonBlocking(transport::ProcessGroup& group) : comm_(detail::borrowed(group)) {}
  std::unique_ptr<Operation> prepare(const Buffers& buffers) override {
    return std::make_unique<NonBlockingOperation>(detail::mpi_arguments(comm_, buffers));
  }
  std::string what_runs(std::int64_t, DataType type) const override {
    return "MPI_Iallreduce (" + detail::carried_by(type) + ")";
  }
  std::string identity() const override { return "MPI_Iallreduce"; }

 private:
  detail::Communicator comm_;
};

}  // namespace

const Library& mpi_iallreduce_library() {
  static const Library library{
      "library-nonblocking",
      "the MPI library's MPI_Iallreduce, moved on between layers",
      {},
      LibraryRole::variant,
      [](const Parameters&, transport::ProcessGroup& group) { return detail::has_communicator(group); },
      [](const Parameters&, transport::ProcessGroup& group) -> std::unique_ptr<LibraryAllreduce> {
        return std::make_unique<NonBlocking>(group);
      }};
  return library;
}

}  // namespace ringmaster::collective
