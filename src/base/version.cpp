// SPDX-License-Identifier: Apache-2.0
#include "base/version.hpp"

#include "ringmaster_build.hpp"

namespace ringmaster {
namespace {

#if defined(__clang__)
const char* const compiler = "clang " __clang_version__;
#elif defined(__GNUC__)
const char* const compiler = "g++ " __VERSION__;
#else
const char* const compiler = "unknown compiler";
#endif

}  // namespace

std::string version() { return RINGMASTER_VERSION; }
std::string revision() { return RINGMASTER_REVISION; }

std::string build_id() {
  return version() + " " + revision() + " " + RINGMASTER_CHANGES + " " + compiler + " " + RINGMASTER_BUILD_TYPE;
}

std::string build_description() {
  return "ringmaster " + version() + " (" + revision() + ", " + compiler + ", " + RINGMASTER_BUILD_TYPE + ")";
}

}  // namespace ringmaster
