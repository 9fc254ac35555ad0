// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace ringmaster {

std::string Place::text() const {
  std::string text = file;
  if (line > 0) text += (text.empty() ? "line " : ":") + std::to_string(line);
  if (line > 0 && column > 0) text += ":" + std::to_string(column);
  return text;
}

std::string Complaint::line() const {
  std::string line = place.text();
  if (!line.empty()) line += ": ";
  line += "error: " + text;
  if (!hint.empty()) line += " (" + hint + ")";
  return line;
}

UserError::UserError(std::vector<Complaint> complaints) : complaints_(std::move(complaints)) {
  for (const Complaint& complaint : complaints_) {
    if (!what_.empty()) what_ += "\n";
    what_ += complaint.line();
  }
}

UserError::UserError(std::string text, std::string hint)
    : UserError(std::vector<Complaint>{Complaint{{}, std::move(text), std::move(hint)}}) {}

SystemError::SystemError(std::string origin, std::int64_t code, const std::string& call, const std::string& reason)
    : origin_(std::move(origin)), code_(code), what_(origin_ + ": " + call + " failed: " + reason) {}

void throw_os_error(const std::string& call, const std::string& subject) {
  const int code = errno;
  throw SystemError("os", code, call + (subject.empty() ? "" : " of " + subject), std::strerror(code));
}

namespace detail {

void assertion_failed(const char* condition, const char* message, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: internal error: %s (%s does not hold). This is a bug: please report it.\n", file, line,
               message, condition);
  std::fflush(stderr);
  std::abort();
}

}  // namespace detail
}  // namespace ringmaster
