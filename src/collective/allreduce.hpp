// SPDX-License-Identifier: Apache-2.0
// Every allreduce variant under one name: schedules (from schedule/builders.def) and the library's own
// (from libraries.def).
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "collective/operation.hpp"
#include "schedule/schedule.hpp"

namespace ringmaster::collective {

/// What carries a schedule: messages between ranks; the memory that the ranks of a node share; or, where ranks are on
/// several nodes, that memory inside a node and messages between nodes.
enum class Transport : std::uint8_t { messages, shared_memory, mixed };
inline constexpr std::array transports{Transport::messages, Transport::shared_memory, Transport::mixed};
constexpr const char* name_of(Transport transport) {
  constexpr std::array names{"messages", "shared", "mixed"};
  return names[static_cast<std::size_t>(transport)];
}
/// Whether it works on memory that ranks share: vectors that lie there are not copied.
constexpr bool shares_memory(Transport transport) { return transport != Transport::messages; }

/// What the user asked for.
struct AllreduceChoice {
  std::string algorithm = "ring";             // a builder's or a library entry's name; '-' and '_' are the same
  Parameters parameters;                      // the entry's own; missing ones take their defaults
  std::int64_t segment_bytes = 0;             // 0: the executor chooses
  std::vector<int> rank_order;                // empty: 0..p-1
  Transport transport = Transport::messages;  // of a schedule; the library chooses itself
};

/// A row of help: every variant there is, with its parameters and its answer for this group.
struct VariantInfo {
  std::string name;
  std::string summary;
  std::span<const ParameterSpec> parameters;
  bool is_library = false;
  bool is_baseline = false;  // the library's own choice: what verdicts compare with
};
std::vector<VariantInfo> allreduce_variants();
/// What a table of everything shows: each builder with each choice it has over each transport, each library row.
/// Parameters are complete.
std::vector<AllreduceChoice> every_allreduce();
/// "direct@shared(form=one-shot)", "library-algorithm(id=segmented-ring,segment=64K)": can be given back as it is.
std::string label(const AllreduceChoice& choice);
/// Specs of one variant; throws UserError with a suggestion when the name is unknown.
VariantInfo require_variant(const std::string& name);
/// "ring", "ring@shared": a variant and what carries it. Throws UserError with a suggestion.
struct CarriedVariant {
  VariantInfo variant;
  Transport transport = Transport::messages;
};
CarriedVariant require_carried(const std::string& name);
/// The way back: algorithm, and the transport if it is not messages.
std::string carried_name(const AllreduceChoice& choice);
/// Whether the variant can run on so many ranks, with the reason if not; what a library needs besides is not asked.
Verdict supports(const AllreduceChoice& choice, int ranks);
/// The whole answer for this group. Collective over `group`.
Verdict supports(const AllreduceChoice& choice, transport::ProcessGroup& group);

/// A variant bound to a group: makes operations. Collective over `group`: all ranks must make and destroy the same
/// allreduces and operations in the same order (message tags are dealt out in that order; a library's variant may have
/// a communicator of its own, an operation on shared memory its own memory).
class Allreduce {
 public:
  Allreduce(transport::ProcessGroup& group, AllreduceChoice choice);
  ~Allreduce();
  Allreduce(Allreduce&&) noexcept;
  Allreduce& operator=(Allreduce&&) noexcept;

  std::unique_ptr<Operation> prepare(const Buffers& buffers);

  const AllreduceChoice& choice() const;
  /// What really runs for a vector of so many bytes: "ring (ringmaster schedule, point-to-point over mpi, segment
  /// 256K)" or "MPI_Allreduce (Open MPI 4.1.4, pml ob1, btl self,vader, single copy cma, not bound)".
  std::string what_runs(std::int64_t bytes, DataType type = DataType::float32) const;
  /// Variants that are the same thing at this rank count share this text.
  std::string identity() const;
  /// Messages and wire bytes that one rank sends for a vector of so many bytes (busiest rank; 0 for a library).
  struct Cost {
    std::int64_t messages = 0;
    double wire_bytes = 0;
  };
  Cost cost(std::int64_t bytes) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringmaster::collective
