// SPDX-License-Identifier: Apache-2.0
// Any bytes as a config: refused with one-line complaints, or read; never a crash. What is read must come back the
// same from its resolved text. Nothing touches the file system.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.hpp"
#include "experiment/config_source.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace ringmaster;
  const experiment::ConfigFiles nothing;
  experiment::Config config;
  try {
    config = experiment::parse_config(std::string(bytes, bytes + size), "fuzz.yaml", {}, nothing);
  } catch (const UserError& error) {
    if (error.complaints().empty()) std::abort();
    for (const Complaint& complaint : error.complaints()) {
      if (complaint.line().find('\n') != std::string::npos) std::abort();
    }
    return 0;
  }
  const experiment::Config again = experiment::parse_config(config.resolved, "fuzz.yaml", {}, nothing);
  if (again.hash != config.hash) std::abort();
  return 0;
}
