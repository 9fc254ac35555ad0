// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <sys/statvfs.h>

#include <cstdlib>
#include <string_view>

#include "base/error.hpp"
#include "transport/detail/shared_memory.hpp"

namespace ringmaster::transport::detail {
namespace {

// Open MPI 4.1's vader asks for 4 MiB + 8 bytes of free room a rank (measured) before it creates a segment; the rest
// is for what other components leave there.
constexpr std::int64_t bytes_per_rank = std::int64_t{5} << 20;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

/// Open MPI's list of components: "self,tcp" names what may be used, "^vader" what may not.
bool may_use(std::string_view list, std::string_view component) {
  if (list.empty()) return true;
  const bool excludes = list.front() == '^';
  if (excludes) list.remove_prefix(1);
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == component) return !excludes;
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return excludes;
}

}  // namespace

std::string segment_folder() {
  if (!may_use(environment("OMPI_MCA_btl"), "vader")) return {};
  const std::string_view folder = environment("OMPI_MCA_btl_vader_backing_directory");
  return folder.empty() ? "/dev/shm" : std::string(folder);
}

void require_segment_room(const std::string& folder, std::int64_t free_bytes, int ranks) {
  const std::int64_t wanted = ranks * bytes_per_rank;
  if (free_bytes >= wanted) return;
  throw UserError(fmt::format("{} has {} MiB free, but {} ranks on this node need {} MiB of shared memory", folder,
                              free_bytes >> 20, ranks, wanted >> 20),
                  "enlarge it (mount -o remount,size=1G /dev/shm; docker run --shm-size=1g), remove what others left "
                  "there, or do without: mpirun --mca btl_vader_backing_directory /tmp, or mpirun --mca btl self,tcp");
}

void require_shared_memory() {
  const std::string local_size(environment("OMPI_COMM_WORLD_LOCAL_SIZE"));
  const int ranks = local_size.empty() ? 0 : std::atoi(local_size.c_str());
  const std::string folder = ranks < 2 ? std::string() : segment_folder();
  struct statvfs info {};
  if (folder.empty() || statvfs(folder.c_str(), &info) != 0) return;  // no such folder: Open MPI says so itself
  require_segment_room(folder, static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize),
                       ranks);
}

}  // namespace ringmaster::transport::detail
