// SPDX-License-Identifier: Apache-2.0
// Open MPI's hierarchical component: reduce in each node, allreduce between nodes, broadcast in each node. Its priority
// (coll_han_priority, 0 in 4.1) can only be read once MPI runs; a preference on a communicator does what the priority
// would, for this communicator alone.
#include <cstring>

#include "base/text.hpp"
#include "collective/libraries/mpi_call.hpp"
#include "device/device.hpp"
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

/// Bytes that go through the levels at once; 0 where coll/han is not there.
std::int64_t han_segment_bytes() {
  const auto info = transport::tool_session().find("coll_han_allreduce_segsize");
  return info ? parse_size(transport::tool_session().text(*info)).value_or(0) : 0;
}

Verdict supports(const Parameters&, transport::ProcessGroup& group) {
  if (Verdict verdict = detail::has_open_mpi(group); !verdict) return verdict;
  const std::int64_t segment = han_segment_bytes();
  if (segment <= 0) return Verdict::no("Open MPI runs without coll/han");
  if (segment % size_of(DataType::float64) != 0) return Verdict::no("coll_han_allreduce_segsize is no multiple of 8");
  const Nodes nodes = nodes_of(group);
  if (nodes.count < 2) return Verdict::no("coll/han works between nodes; these ranks share one");
  if (nodes.most_ranks < 2) return Verdict::no("coll/han passes on where every rank has a node of its own");
  return Verdict::yes();
}

/// With more than one segment Open MPI 4 forgets MPI_IN_PLACE after the first (open-mpi/ompi issue 11473), and takes
/// the last one for a whole one: it reads and writes past the end of a vector that ends within it.
bool needs_care(std::int64_t bytes, std::int64_t segment_bytes) {
  return bytes > segment_bytes && detail::library_name().rfind("Open MPI 4.", 0) == 0;
}

/// The library sees a copy as its input, and works on whole segments only.
class ThroughCopies final : public Operation {
 public:
  ThroughCopies(const detail::Communicator& comm, const Buffers& buffers, std::int64_t segment_bytes)
      : user_(buffers),
        input_(round_up(static_cast<std::int64_t>(user_.output.size()), segment_bytes)),
        output_(input_.size() == static_cast<std::int64_t>(user_.output.size()) ? 0 : input_.size()),
        reduce_(
            detail::make_blocking_allreduce(comm, {input_.bytes(), output_.size() > 0 ? output_.bytes() : user_.output,
                                                   user_.type, nullptr, user_.reduction})) {
    std::memset(input_.data(), 0, input_.bytes().size());
  }
  bool blocks() const override { return true; }

 private:
  static std::int64_t round_up(std::int64_t bytes, std::int64_t unit) { return (bytes + unit - 1) / unit * unit; }
  void do_start() override {
    std::memcpy(input_.data(), user_.input.data(), user_.input.size());
    reduce_->start();
  }
  bool do_progress() override {
    if (!reduce_->progress()) return false;
    if (output_.size() > 0) std::memcpy(user_.output.data(), output_.data(), user_.output.size());
    return true;
  }

  Buffers user_;
  device::Buffer input_;
  device::Buffer output_;  // empty where the vector ends with a segment
  std::unique_ptr<Operation> reduce_;
};

class HierarchicalAllreduce final : public LibraryAllreduce {
 public:
  explicit HierarchicalAllreduce(transport::ProcessGroup& group)
      : segment_bytes_(han_segment_bytes()), comm_(detail::duplicate_preferring("han", group)) {}

  std::unique_ptr<Operation> prepare(const Buffers& buffers) override {
    const auto bytes = static_cast<std::int64_t>(buffers.output.size());
    const bool in_place = buffers.input.data() == buffers.output.data();
    if (needs_care(bytes, segment_bytes_) && (in_place || bytes % segment_bytes_ != 0)) {
      return std::make_unique<ThroughCopies>(comm_, buffers, segment_bytes_);
    }
    return detail::make_blocking_allreduce(comm_, buffers);
  }
  std::string what_runs(std::int64_t elements, DataType type) const override {
    const std::int64_t bytes = elements * size_of(type);
    std::string text = "MPI_Allreduce of coll/han";
    if (needs_care(bytes, segment_bytes_)) {
      text += bytes % segment_bytes_ == 0 ? ", in place through a copy" : ", through copies of whole segments";
    }
    return text + " (" + detail::carried_by(type) + ")";
  }
  std::string identity() const override { return "MPI_Allreduce of coll/han"; }

 private:
  std::int64_t segment_bytes_;
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
