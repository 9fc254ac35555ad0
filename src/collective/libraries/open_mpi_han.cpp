// SPDX-License-Identifier: Apache-2.0
// Open MPI's hierarchical component: reduce in each node, allreduce between nodes, broadcast in each node. Its priority
// (coll_han_priority, 0 in 4.1) can only be read once MPI runs; a preference on a communicator does what the priority
// would, for this communicator alone.
#include "collective/libraries/mpi_call.hpp"
#include "transport/mpi_tool.hpp"

namespace ringmaster::collective {
namespace {

/// How the ranks of a group lie on nodes (ranks that share memory).
struct Nodes {
  int count = 0;
  int most_ranks = 0;
};

/// Collective over the group.
Nodes nodes_of(const transport::ProcessGroup& group) {
  const MPI_Comm comm = *detail::borrowed(group);
  MPI_Comm node = MPI_COMM_NULL;
  detail::check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  int rank = 0;
  int size = 0;
  detail::check_mpi(MPI_Comm_rank(node, &rank), "MPI_Comm_rank");
  detail::check_mpi(MPI_Comm_size(node, &size), "MPI_Comm_size");
  detail::check_mpi(MPI_Comm_free(&node), "MPI_Comm_free");
  const int leader = rank == 0 ? 1 : 0;
  Nodes nodes;
  detail::check_mpi(MPI_Allreduce(&leader, &nodes.count, 1, MPI_INT, MPI_SUM, comm), "MPI_Allreduce");
  detail::check_mpi(MPI_Allreduce(&size, &nodes.most_ranks, 1, MPI_INT, MPI_MAX, comm), "MPI_Allreduce");
  return nodes;
}

Verdict supports(const Parameters&, transport::ProcessGroup& group) {
  if (const Verdict verdict = detail::has_open_mpi(group); !verdict) return verdict;
  if (!transport::tool_session().find("coll_han_priority")) return Verdict::no("Open MPI runs without coll/han");
  const Nodes nodes = nodes_of(group);
  if (nodes.count < 2) return Verdict::no("coll/han works between nodes; these ranks share one");
  if (nodes.most_ranks < 2) return Verdict::no("coll/han needs ranks that share a node; each of these has its own");
  return Verdict::yes();
}

class HierarchicalAllreduce final : public LibraryAllreduce {
 public:
  explicit HierarchicalAllreduce(transport::ProcessGroup& group) : comm_(detail::duplicate_preferring("han", group)) {}
  std::unique_ptr<Operation> prepare(const Buffers& buffers) override {
    return detail::make_blocking_allreduce(comm_, buffers);
  }
  std::string what_runs(std::int64_t, DataType) const override {
    return "MPI_Allreduce of coll/han (" + detail::carried_by() + ")";
  }
  std::string identity() const override { return "MPI_Allreduce of coll/han"; }

 private:
  detail::Communicator comm_;
};

}  // namespace

const Library& open_mpi_han_library() {
  static const Library library{
      "library-han",
      "Open MPI's coll/han: in each node, then between nodes",
      {},
      LibraryRole::variant,
      supports,
      [](const Parameters&, transport::ProcessGroup& group) -> std::unique_ptr<LibraryAllreduce> {
        return std::make_unique<HierarchicalAllreduce>(group);
      }};
  return library;
}

}  // namespace ringmaster::collective
