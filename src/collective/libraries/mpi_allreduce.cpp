// SPDX-License-Identifier: Apache-2.0
// The library's own blocking allreduce: the baseline of every table.
#include "collective/libraries/mpi_call.hpp"

namespace ringmaster::collective {
namespace {

class OwnChoice final : public LibraryAllreduce {
 public:
  explicit OwnChoice(transport::ProcessGroup& group) : comm_(detail::borrowed(group)) {}
  std::unique_ptr<Operation> prepare(const Buffers& buffers) override {
    return detail::make_blocking_allreduce(comm_, buffers);
  }
  std::string what_runs(std::int64_t, DataType type) const override {
    return "MPI_Allreduce (" + detail::carried_by(type) + detail::decided_by_user() + ")";
  }
  std::string identity() const override { return "MPI_Allreduce"; }

 private:
  detail::Communicator comm_;
};

}  // namespace

const Library& mpi_allreduce_library() {
  static const Library library{
      "library",
      "the MPI library's own MPI_Allreduce",
      {},
      LibraryRole::baseline,
      [](const Parameters&, transport::ProcessGroup& group) { return detail::has_communicator(group); },
      [](const Parameters&, transport::ProcessGroup& group) -> std::unique_ptr<LibraryAllreduce> {
        return std::make_unique<OwnChoice>(group);
      }};
  return library;
}

}  // namespace ringmaster::collective
