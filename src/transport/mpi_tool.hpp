// SPDX-License-Identifier: Apache-2.0
// MPI's tool interface (MPI_T): the library's control variables, read and set by name. For `transport` and the entries
// of collective/libraries. Every return code is checked in mpi_tool.cpp; failures are SystemErrors of origin "mpi". One
// thread at a time.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>

namespace ringmaster::transport {

/// What the library says of a variable. `names` is MPI_T_ENUM_NULL for variables without named values.
struct ControlInfo {
  int index = 0;
  std::string name;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum names = MPI_T_ENUM_NULL;
};

/// The tool interface, open. Opening it takes Open MPI a quarter of a second (it loads every component it has), so
/// there is one for the life of MPI: see tool_session.
class ToolSession {
 public:
  ToolSession();
  ~ToolSession();
  ToolSession(const ToolSession&) = delete;
  ToolSession& operator=(const ToolSession&) = delete;

  /// Variables that were ever there; a closed component takes its own away.
  int variables() const;
  std::optional<ControlInfo> info(int index) const;
  std::optional<ControlInfo> find(const char* name) const;
  /// The value as text, its name where values have names; "?" where it cannot be read.
  std::string text(const ControlInfo& info) const;
  /// The value that is called `name`, if the library knows it.
  std::optional<int> value_of(const ControlInfo& info, const std::string& name) const;
};

/// Opened at the first call, after MPI has started.
const ToolSession& tool_session();
/// Must come before MPI_Finalize: Open MPI 4.1 crashes in the other order. MpiSession does it.
void close_tool_session();

/// Sets a whole-number variable for its own life and puts the former value back. All ranks must set the same.
class ForcedValue {
 public:
  ForcedValue(const char* name, int value);
  ~ForcedValue();
  ForcedValue(const ForcedValue&) = delete;
  ForcedValue& operator=(const ForcedValue&) = delete;

 private:
  MPI_T_cvar_handle handle_ = nullptr;
  int former_ = 0;
};

}  // namespace ringmaster::transport
