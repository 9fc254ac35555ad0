// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi_tool.hpp"

#include <fmt/core.h>

#include <array>
#include <cstring>
#include <memory>

#include "base/error.hpp"

namespace ringmaster::transport {
namespace {

constexpr std::size_t longest_name = 256;
constexpr std::size_t longest_value = 4096;

std::string reason_of(int code) {
  switch (code) {
    case MPI_T_ERR_NOT_INITIALIZED: return "the tool interface is closed";
    case MPI_T_ERR_INVALID_NAME: return "there is no variable of that name";
    case MPI_T_ERR_CVAR_SET_NOT_NOW: return "the library does not take this value now";
    case MPI_T_ERR_CVAR_SET_NEVER: return "the variable can only be read";
    default: return fmt::format("code {}", code);
  }
}

void check_tool(int code, const char* call, const char* variable) {
  if (code != MPI_SUCCESS) throw SystemError("mpi", code, fmt::format("{} of {}", call, variable), reason_of(code));
}

/// For destructors and places that have an answer without the value.
bool succeeded(int code) { return code == MPI_SUCCESS; }

std::unique_ptr<ToolSession>& held_session() {
  static std::unique_ptr<ToolSession> session;
  return session;
}

bool is_whole_number(MPI_Datatype type) { return type == MPI_INT || type == MPI_UNSIGNED; }

/// Calls body(value, name) for each named value, until it says true.
template <class Body>
bool any_named_value(MPI_T_enum names, Body body) {
  std::array<char, longest_name> name{};
  int count = 0;
  int length = static_cast<int>(name.size());
  if (!succeeded(MPI_T_enum_get_info(names, &count, name.data(), &length))) return false;
  for (int i = 0; i < count; ++i) {
    int value = 0;
    length = static_cast<int>(name.size());
    if (succeeded(MPI_T_enum_get_item(names, i, &value, name.data(), &length)) && body(value, name.data())) return true;
  }
  return false;
}

std::string name_of_value(MPI_T_enum names, int value) {
  std::string found = std::to_string(value);
  any_named_value(names, [&](int item, const char* name) {
    if (item == value) found = name;
    return item == value;
  });
  return found;
}

}  // namespace

ToolSession::ToolSession() {
  int level = 0;
  check_tool(MPI_T_init_thread(MPI_THREAD_SINGLE, &level), "MPI_T_init_thread", "the tool interface");
}

ToolSession::~ToolSession() {
  const bool closed = succeeded(MPI_T_finalize());
  RINGMASTER_ASSERT(closed, "MPI's tool interface did not close");
}

int ToolSession::variables() const {
  int count = 0;
  check_tool(MPI_T_cvar_get_num(&count), "MPI_T_cvar_get_num", "the tool interface");
  return count;
}

std::optional<ControlInfo> ToolSession::info(int index) const {
  ControlInfo info{index, {}, MPI_DATATYPE_NULL, MPI_T_ENUM_NULL};
  std::array<char, longest_name> name{};
  int name_length = static_cast<int>(name.size());
  int description_length = 0;
  int verbosity = 0;
  int bind = 0;
  int scope = 0;
  const int code = MPI_T_cvar_get_info(index, name.data(), &name_length, &verbosity, &info.type, &info.names, nullptr,
                                       &description_length, &bind, &scope);
  if (!succeeded(code)) return std::nullopt;
  info.name = name.data();
  return info;
}

std::optional<ControlInfo> ToolSession::find(const char* name) const {
  int index = 0;
  if (!succeeded(MPI_T_cvar_get_index(name, &index))) return std::nullopt;
  return info(index);
}

std::string ToolSession::text(const ControlInfo& info) const {
  MPI_T_cvar_handle handle = nullptr;
  int count = 0;
  if (!succeeded(MPI_T_cvar_handle_alloc(info.index, nullptr, &handle, &count))) return "?";
  std::array<char, longest_value> buffer{};
  const bool is_text = info.type == MPI_CHAR;
  const bool fits = count < static_cast<int>(buffer.size()) && (is_text || count == 1);
  const bool read = fits && succeeded(MPI_T_cvar_read(handle, buffer.data()));
  check_tool(MPI_T_cvar_handle_free(&handle), "MPI_T_cvar_handle_free", info.name.c_str());
  if (!read) return "?";
  if (is_text) return buffer.data();
  int number = 0;
  std::memcpy(&number, buffer.data(), sizeof number);
  return info.names == MPI_T_ENUM_NULL ? std::to_string(number) : name_of_value(info.names, number);
}

std::optional<int> ToolSession::value_of(const ControlInfo& info, const std::string& name) const {
  std::optional<int> found;
  if (info.names == MPI_T_ENUM_NULL) return found;
  any_named_value(info.names, [&](int value, const char* item) {
    if (item == name) found = value;
    return found.has_value();
  });
  return found;
}

const ToolSession& tool_session() {
  std::unique_ptr<ToolSession>& session = held_session();
  if (!session) session = std::make_unique<ToolSession>();
  return *session;
}

void close_tool_session() { held_session().reset(); }

ForcedValue::ForcedValue(const char* name, int value) {
  const std::optional<ControlInfo> info = tool_session().find(name);
  if (!info) throw SystemError("mpi", MPI_T_ERR_INVALID_NAME, name, reason_of(MPI_T_ERR_INVALID_NAME));
  RINGMASTER_ASSERT(is_whole_number(info->type), "a control variable is forced that is no whole number");
  int count = 0;
  check_tool(MPI_T_cvar_handle_alloc(info->index, nullptr, &handle_, &count), "MPI_T_cvar_handle_alloc", name);
  const int read = MPI_T_cvar_read(handle_, &former_);
  const int written = succeeded(read) ? MPI_T_cvar_write(handle_, &value) : read;
  if (succeeded(written)) return;
  MPI_T_cvar_handle_free(&handle_);
  check_tool(written, succeeded(read) ? "MPI_T_cvar_write" : "MPI_T_cvar_read", name);
}

ForcedValue::~ForcedValue() {
  const bool restored = succeeded(MPI_T_cvar_write(handle_, &former_)) && succeeded(MPI_T_cvar_handle_free(&handle_));
  RINGMASTER_ASSERT(restored, "a control variable of MPI kept a forced value");
}

}  // namespace ringmaster::transport
