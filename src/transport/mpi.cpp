// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi.hpp"

#include <fmt/core.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "base/error.hpp"
#include "transport/detail/memory_file.hpp"
#include "transport/detail/shared_memory.hpp"
#include "transport/mpi_check.hpp"
#include "transport/mpi_tool.hpp"

namespace ringmaster::transport {
namespace {

// MPI counts in int: what is longer travels as several messages of this size.
constexpr std::size_t most_bytes = std::size_t{1} << 30;

int to_count(std::size_t bytes) {
  RINGMASTER_ASSERT(bytes <= most_bytes, "a message longer than MPI can count");
  return static_cast<int>(bytes);
}

struct MpiRequest final : Request {
  MPI_Request handle = MPI_REQUEST_NULL;
  std::vector<MPI_Request> rest;  // of a message longer than most_bytes
  int peer = no_peer;
  bool posted = false;
};

class MpiGroup final : public ProcessGroup {
 public:
  enum class Owned : std::uint8_t { no, yes };
  /// Ranks with the same `node_mark` are on one node.
  MpiGroup(MPI_Comm comm, Owned owned, std::int64_t node_mark) : comm_(comm), owned_(owned) {
    check_mpi(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
    int found = 0;
    int* highest = nullptr;
    check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &highest, &found), "MPI_Comm_get_attr");
    highest_tag_ = found != 0 ? *highest : 32767;
    std::vector<std::int64_t> marks(static_cast<std::size_t>(size_));
    check_mpi(MPI_Allgather(&node_mark, 1, MPI_INT64_T, marks.data(), 1, MPI_INT64_T, comm_), "MPI_Allgather");
    nodes_ = number_nodes(marks);
  }
  ~MpiGroup() override {
    if (owned_ == Owned::yes) MPI_Comm_free(&comm_);
  }
  MpiGroup(const MpiGroup&) = delete;
  MpiGroup& operator=(const MpiGroup&) = delete;

  MPI_Comm* communicator() { return &comm_; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  const char* transport_name() const override { return "mpi"; }
  int highest_tag() const override { return highest_tag_; }
  std::unique_ptr<Request> make_request() override { return std::make_unique<MpiRequest>(); }

  void post_send(std::span<const std::byte> data, int peer, int tag, Request& request) override {
    MpiRequest& own = begin(request, peer);
    const std::size_t first = std::min(data.size(), most_bytes);
    check_mpi(MPI_Isend(data.data(), to_count(first), MPI_BYTE, peer, tag, comm_, &own.handle), "MPI_Isend", peer);
    for (std::size_t at = first; at < data.size(); at += most_bytes) {
      MPI_Request& part = own.rest.emplace_back(MPI_REQUEST_NULL);
      const int count = to_count(std::min(data.size() - at, most_bytes));
      check_mpi(MPI_Isend(data.data() + at, count, MPI_BYTE, peer, tag, comm_, &part), "MPI_Isend", peer);
    }
    own.posted = true;
  }

  void post_receive(std::span<std::byte> data, int peer, int tag, Request& request) override {
    MpiRequest& own = begin(request, peer);
    const std::size_t first = std::min(data.size(), most_bytes);
    check_mpi(MPI_Irecv(data.data(), to_count(first), MPI_BYTE, peer, tag, comm_, &own.handle), "MPI_Irecv", peer);
    for (std::size_t at = first; at < data.size(); at += most_bytes) {
      MPI_Request& part = own.rest.emplace_back(MPI_REQUEST_NULL);
      const int count = to_count(std::min(data.size() - at, most_bytes));
      check_mpi(MPI_Irecv(data.data() + at, count, MPI_BYTE, peer, tag, comm_, &part), "MPI_Irecv", peer);
    }
    own.posted = true;
  }

  bool test(Request& request) override {
    auto& own = static_cast<MpiRequest&>(request);
    RINGMASTER_ASSERT(own.posted, "a request is tested that was never posted");
    int done = 0;
    check_mpi(MPI_Test(&own.handle, &done, MPI_STATUS_IGNORE), "MPI_Test", own.peer);
    if (done == 0) return false;
    while (!own.rest.empty()) {
      check_mpi(MPI_Test(&own.rest.back(), &done, MPI_STATUS_IGNORE), "MPI_Test", own.peer);
      if (done == 0) return false;
      own.rest.pop_back();
    }
    own.posted = false;
    return true;
  }

  // A message that never comes: a probe that finds one moves nothing.
  void progress() override {
    int found = 0;
    check_mpi(MPI_Iprobe(rank_, highest_tag_, comm_, &found, MPI_STATUS_IGNORE), "MPI_Iprobe");
  }

  void barrier() override { check_mpi(MPI_Barrier(comm_), "MPI_Barrier"); }

  void broadcast(std::span<std::byte> data, int root) override {
    for (std::size_t at = 0; at < data.size(); at += most_bytes) {
      const int count = to_count(std::min(data.size() - at, most_bytes));
      check_mpi(MPI_Bcast(data.data() + at, count, MPI_BYTE, root, comm_), "MPI_Bcast");
    }
  }

  // A broadcast a rank: contributions differ in size and may be longer than an int counts.
  std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine) override {
    const auto size = static_cast<std::uint64_t>(mine.size());
    std::vector<std::uint64_t> sizes(static_cast<std::size_t>(size_));
    check_mpi(MPI_Allgather(&size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, comm_), "MPI_Allgather");
    std::vector<std::vector<std::byte>> all(sizes.size());
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      all[rank].resize(sizes[rank]);
      if (static_cast<int>(rank) == rank_) std::copy(mine.begin(), mine.end(), all[rank].begin());
      broadcast(all[rank], static_cast<int>(rank));
    }
    return all;
  }

  std::unique_ptr<ProcessGroup> split(int color, int key) override {
    MPI_Comm part = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(comm_, color < 0 ? MPI_UNDEFINED : color, key, &part), "MPI_Comm_split");
    if (part == MPI_COMM_NULL) return nullptr;
    return std::make_unique<MpiGroup>(part, Owned::yes, node_of(rank_));
  }

  const std::vector<int>& nodes() const override { return nodes_; }

  NodeMemory share(std::int64_t bytes) override {
    std::unique_ptr<detail::MemoryFile> file;
    std::vector<detail::Mapping> mappings(static_cast<std::size_t>(size_));
    agree([&] {
      file = std::make_unique<detail::MemoryFile>(bytes);
      mappings[static_cast<std::size_t>(rank_)] = file->map_mine();
    });
    struct Place {
      std::int64_t process, bytes;
      int descriptor;
    };
    const auto places = gather_values(*this, Place{getpid(), bytes, file->descriptor()});
    agree([&] {
      for (std::size_t rank = 0; rank < places.size(); ++rank) {
        if (static_cast<int>(rank) == rank_ || nodes_[rank] != node_of(rank_)) continue;
        mappings[rank] = detail::map_of(places[rank].process, places[rank].descriptor, places[rank].bytes);
      }
    });
    std::vector<std::span<std::byte>> parts;
    std::vector<std::shared_ptr<void>> owners;
    for (const detail::Mapping& mapping : mappings) {
      parts.push_back(mapping.bytes);
      owners.push_back(mapping.owner);
    }
    return {rank_, std::move(parts), std::move(owners)};
  }

 private:
  /// Runs `body`; where it fails on one rank, all fail with that rank's words. Also a barrier.
  template <class Body>
  void agree(Body body) {
    std::string problem;
    try {
      body();
    } catch (const std::exception& error) {
      problem = fmt::format("rank {}: {}", rank_, error.what());
    }
    for (const auto& text : gather_vectors(*this, std::span<const char>(problem))) {
      if (!text.empty()) throw SystemError("shared memory", 0, "share", std::string(text.begin(), text.end()));
    }
  }

  int node_of(int rank) const { return nodes_[static_cast<std::size_t>(rank)]; }

  static MpiRequest& begin(Request& request, int peer) {
    auto& own = static_cast<MpiRequest&>(request);
    RINGMASTER_ASSERT(!own.posted, "a request is posted while it is in use");
    own.peer = peer;
    return own;
  }

  MPI_Comm comm_;
  Owned owned_;
  int rank_ = 0;
  int size_ = 1;
  int highest_tag_ = 32767;
  std::vector<int> nodes_;
};

/// The world's rank that is the first of this rank's host, with the number of the part of the host that it is in.
std::int64_t node_mark(int ranks_per_node) {
  MPI_Comm host = MPI_COMM_NULL;
  int first = 0;
  int here = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &first), "MPI_Comm_rank");
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, first, MPI_INFO_NULL, &host),
            "MPI_Comm_split_type");
  check_mpi(MPI_Comm_rank(host, &here), "MPI_Comm_rank");
  check_mpi(MPI_Bcast(&first, 1, MPI_INT, 0, host), "MPI_Bcast");
  check_mpi(MPI_Comm_free(&host), "MPI_Comm_free");
  const int part = ranks_per_node > 0 ? here / ranks_per_node : 0;
  return (static_cast<std::int64_t>(first) << 32) + part;
}

int environment_number(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? 0 : std::atoi(value);
}

std::string level_name(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE: return "single";
    case MPI_THREAD_FUNNELED: return "funneled";
    case MPI_THREAD_SERIALIZED: return "serialized";
    default: return "multiple";
  }
}

/// Open MPI runs another algorithm than its own table's only if its dynamic rules were on when MPI started. With
/// nothing forced they decide as the table does, so the switch alone changes nothing. Settings of the user's for the
/// same component would come to life with it: then all is left as it is.
void let_algorithms_be_forced() {
  constexpr std::string_view settings = "OMPI_MCA_coll_tuned_";
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::string_view(*variable).substr(0, settings.size()) == settings) return;
  }
  setenv("OMPI_MCA_coll_tuned_use_dynamic_rules", "1", 0);
}

int& thread_level() {
  static int level = MPI_THREAD_SINGLE;
  return level;
}

}  // namespace

MpiSession::MpiSession(int* argc, char*** argv, int ranks_per_node) {
  detail::require_shared_memory();
  let_algorithms_be_forced();
  int level = MPI_THREAD_SINGLE;
  // Serialized: the engine's thread and the main lane never call at the same time. Multiple would take locks in
  // every call of the library.
  check_mpi(MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
  thread_level() = level;
  if (level < MPI_THREAD_SERIALIZED) {
    throw UserError(fmt::format("this MPI offers thread level {}, but serialized is needed", level_name(level)),
                    "use an MPI library built with thread support");
  }
  world_ = std::make_unique<MpiGroup>(MPI_COMM_WORLD, MpiGroup::Owned::no, node_mark(ranks_per_node));
}

MpiSession::~MpiSession() {
  world_.reset();
  close_tool_session();
  MPI_Finalize();
}

void abort_job(int code) {
  // MPI_Abort may itself hang in a library whose peers are gone: then the exit code alone ends the job.
  std::thread([code] {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    _exit(code);
  }).detach();
  int started = 0;
  int ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (started != 0 && ended == 0) MPI_Abort(MPI_COMM_WORLD, code);
  _exit(code);
}

int promised_world_size() {
  // Not SLURM_NTASKS: an allocation sets it for its shell as well, where a single process is no mistake.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const int size = environment_number(name);
    if (size > 0) return size;
  }
  return 0;
}

void* native_communicator(const ProcessGroup& group) {
  const auto* mpi = dynamic_cast<const MpiGroup*>(&group);
  return mpi == nullptr ? nullptr : const_cast<MpiGroup*>(mpi)->communicator();  // NOLINT: MPI takes no const
}

std::string mpi_thread_level() { return level_name(thread_level()); }

}  // namespace ringmaster::transport
