// SPDX-License-Identifier: Apache-2.0
// Errors by kind. A user error (config, files, arguments) becomes clear lines and exit code 2; a system
// error (a call to MPI, the operating system, ...) carries what was called and why it failed; a broken
// invariant is an assertion that stays on in release builds.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

namespace ringmaster {

/// Where in a file something stands. Lines and columns count from 1; 0 means unknown.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;

  /// "file:line:column", or as much of it as is known.
  std::string text() const;
};

/// One complaint about the user's input, with a hint where there is one.
struct Complaint {
  Place place;
  std::string text;
  std::string hint;

  /// "file:line:column: error: text (hint)".
  std::string line() const;
};

/// Everything that is wrong with the user's input, all at once. Exit code 2.
class UserError : public std::exception {
 public:
  explicit UserError(std::vector<Complaint> complaints);
  explicit UserError(std::string text, std::string hint = {});

  const std::vector<Complaint>& complaints() const { return complaints_; }
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::vector<Complaint> complaints_;
  std::string what_;
};

/// A call outside of this program failed. `origin` is "mpi", "os", "cuda", ...
class SystemError : public std::exception {
 public:
  SystemError(std::string origin, std::int64_t code, const std::string& call, const std::string& reason);

  const std::string& origin() const { return origin_; }
  std::int64_t code() const { return code_; }
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string origin_;
  std::int64_t code_;
  std::string what_;
};

/// Throws SystemError for the current errno of `call`; `subject` names the file or resource.
[[noreturn]] void throw_os_error(const std::string& call, const std::string& subject);

namespace detail {
[[noreturn]] void assertion_failed(const char* condition, const char* message, const char* file, int line);
}

}  // namespace ringmaster

/// An invariant of ours. Prints place and message and aborts; stays on in release builds.
#define RINGMASTER_ASSERT(condition, message) \
  ((condition) ? static_cast<void>(0) : ::ringmaster::detail::assertion_failed(#condition, message, __FILE__, __LINE__))
