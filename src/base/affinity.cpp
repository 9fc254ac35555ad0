// SPDX-License-Identifier: Apache-2.0
#include "base/affinity.hpp"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <memory>

#include "base/error.hpp"

namespace ringmaster {
namespace {

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

}  // namespace

std::vector<int> processing_units() {
  // The kernel refuses a set that is smaller than its own: grow until it fits.
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 2) {
    const std::unique_ptr<cpu_set_t, FreeCpuSet> set(CPU_ALLOC(static_cast<std::size_t>(capacity)));
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(capacity));
    CPU_ZERO_S(bytes, set.get());
    if (sched_getaffinity(0, bytes, set.get()) != 0) continue;
    std::vector<int> units;
    for (int unit = 0; unit < capacity; ++unit) {
      if (CPU_ISSET_S(static_cast<std::size_t>(unit), bytes, set.get())) units.push_back(unit);
    }
    return units;
  }
  throw_os_error("sched_getaffinity", "");
}

int machine_processing_units() {
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int>(online) : 1;
}

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) throw_os_error("gethostname", "");
  return name.data();
}

}  // namespace ringmaster
