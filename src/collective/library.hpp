// SPDX-License-Identifier: Apache-2.0
// The registry of library allreduces: one file in libraries/ and one line in libraries.def each.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/spec.hpp"
#include "collective/operation.hpp"
#include "transport/process_group.hpp"

namespace ringmaster::collective {

/// A library's allreduce over one group, with what the library needs for it (a communicator of its own). Operations
/// may outlive it.
class LibraryAllreduce {
 public:
  virtual ~LibraryAllreduce() = default;

  virtual std::unique_ptr<Operation> prepare(const Buffers& buffers) = 0;
  /// What really runs for a vector of so many elements: libraries put other algorithms in the place of the one that
  /// was asked for.
  virtual std::string what_runs(std::int64_t elements, DataType type) const = 0;
  /// Equal for choices that are the same thing at any size.
  virtual std::string identity() const = 0;
};

enum class LibraryRole : std::uint8_t { variant, baseline };

struct Library {
  const char* name;
  const char* summary;
  std::span<const ParameterSpec> parameters;
  LibraryRole role;  // one entry is the baseline of every verdict
  /// Whether this group can run it, with the reason if not (the threads of a test have no MPI). Parameters are
  /// complete. Collective over the group.
  Verdict (*supports)(const Parameters&, transport::ProcessGroup&);
  /// Only where `supports` said yes. Collective over the group.
  std::unique_ptr<LibraryAllreduce> (*make)(const Parameters&, transport::ProcessGroup&);
  /// The parameters that a table of everything shows; null: the defaults, with each choice of a text once.
  std::vector<Parameters> (*shown)() = nullptr;
};

std::span<const Library* const> libraries();

#define LIBRARY(name) const Library& name##_library();
#include "collective/libraries.def"
#undef LIBRARY

}  // namespace ringmaster::collective
