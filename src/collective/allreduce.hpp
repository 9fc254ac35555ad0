// SPDX-License-Identifier: Apache-2.0
// Every allreduce variant under one name: schedules (from schedule/builders.def) and the library's own
// (from libraries.def).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collective/operation.hpp"
#include "schedule/schedule.hpp"

namespace ringmaster::collective {

/// What the user asked for.
struct AllreduceChoice {
  std::string algorithm = "ring";  // a builder's or a library entry's name; '-' and '_' are the same
  Parameters parameters;           // the entry's own; missing ones take their defaults
  std::int64_t segment_bytes = 0;  // 0: the executor chooses
  std::vector<int> rank_order;     // empty: 0..p-1
};

/// A row of help: every variant there is, with its parameters and its answer for this group.
struct VariantInfo {
  std::string name;
  std::string summary;
  std::span<const ParameterSpec> parameters;
  bool is_library = false;
};
std::vector<VariantInfo> allreduce_variants();
/// Specs of one variant; throws UserError with a suggestion when the name is unknown.
VariantInfo require_variant(const std::string& name);
/// Whether the variant can run on so many ranks, with the reason if not.
Verdict supports(const AllreduceChoice& choice, int ranks);

/// A variant bound to a group: makes operations. Collective over `group` only in that all ranks must make the
/// same allreduces and operations in the same order (message tags are dealt out in that order).
class Allreduce {
 public:
  Allreduce(transport::ProcessGroup& group, AllreduceChoice choice);
  ~Allreduce();
  Allreduce(Allreduce&&) noexcept;
  Allreduce& operator=(Allreduce&&) noexcept;

  std::unique_ptr<Operation> prepare(const Buffers& buffers);

  const AllreduceChoice& choice() const;
  /// What really runs: "ring (ringmaster schedule, point-to-point over mpi, segment 256K)" or
  /// "MPI_Allreduce (Open MPI 4.1.4, pml ob1, btl vader)".
  std::string what_runs() const;
  /// Schedules that are the same at this rank count share this text; a library variant has its name.
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
