// SPDX-License-Identifier: Apache-2.0
#include "result/store.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/handle.hpp"
#include "base/log.hpp"
#include "result/json.hpp"

namespace ringmaster::result {
namespace {

namespace fs = std::filesystem;

constexpr const char* run_file = "run.json";
constexpr const char* samples_file = "samples.jsonl";
constexpr const char* trace_file = "trace.json";
constexpr std::array own_files{run_file, samples_file, trace_file, "summary.csv", "summary.json", "report.html"};
const char* const whole = "what was stored before is whole; free some space and go on with --resume";

struct DescriptorTraits {
  using type = int;
  static type null() { return -1; }
  static void destroy(type descriptor) noexcept { ::close(descriptor); }
};
using Descriptor = Handle<DescriptorTraits>;

Descriptor make_descriptor(int value) { return value < 0 ? Descriptor(DescriptorTraits::null()) : Descriptor(value); }

[[noreturn]] void fail(const std::string& call, const std::string& path, int error) {
  throw SystemError("os", error, call + " " + path, fmt::format("{}; {}", std::strerror(error), whole));
}

/// 0, or the errno of the write that failed. What fits is written first, as write(2) does.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(descriptor, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : ENOSPC;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

/// Holds the folder against other processes of the job. Bounded: a dying job must not wait for a stopped process.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : folder_(make_descriptor(::open(folder.c_str(), O_RDONLY | O_CLOEXEC))) {
    constexpr int tries = 500;
    for (int i = 0; i < tries && ::flock(folder_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

 private:
  Descriptor folder_;
};

/// `disk` survives a power cut and may take long; a dying job only has to survive its own death.
enum class Flush { cache, disk };

/// Beside and renamed: a reader sees the old file or the new one, whole.
void replace_file(const std::string& folder, const std::string& name, std::string_view content, Flush flush) {
  const std::string path = folder + "/" + name;
  const std::string beside = fmt::format("{}.{}.new", path, ::getpid());
  constexpr mode_t mode = 0666;
  Descriptor file = make_descriptor(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (file.get() < 0) fail("open", path, errno);
  int error = write_all(file.get(), content);
  if (error == 0 && flush == Flush::disk && ::fsync(file.get()) != 0 && errno != EINVAL && errno != ENOTSUP)
    error = errno;
  if (error == 0 && ::close(file.release()) != 0) error = errno;
  if (error == 0 && ::rename(beside.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return;
  ::unlink(beside.c_str());
  fail("write", path, error);
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (file.bad() || !file.is_open()) throw UserError(path + ": cannot be read", "is the path right?");
  return text.str();
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

std::string folder_of(const std::string& path) {
  const fs::path given(path);
  if (given.filename() != run_file) return path;
  return given.has_parent_path() ? given.parent_path().string() : std::string(".");
}

/// Where the last line that a crash may have torn begins: the size if the file ends in a newline.
std::size_t whole_lines(const std::string& text) {
  const std::size_t end = text.rfind('\n');
  return end == std::string::npos ? 0 : end + 1;
}

void read_samples(const std::string& path, Run& run) {
  if (!exists(path)) return;
  const std::string text = read_text(path);
  int line_number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t newline = text.find('\n', at);
    const bool torn = newline == std::string::npos;
    const std::string_view line = std::string_view(text).substr(at, torn ? std::string::npos : newline - at);
    at = torn ? text.size() : newline + 1;
    ++line_number;
    if (line.empty() || torn) {
      if (torn)
        log(LogLevel::warning, fmt::format("{}:{}: the last line was torn by a kill; dropped", path, line_number));
      continue;
    }
    if (!add_sample(line, path, line_number, run)) {
      complain({path, line_number, 0}, "this line is damaged", "remove the line; --resume measures its block again");
    }
  }
}

std::vector<Interruption> stored_interruptions(const std::string& file) {
  if (!exists(file)) return {};
  try {
    return parse_run(read_text(file), file).interruptions;
  } catch (const UserError&) {  // damaged: it is about to be replaced by a whole one
    return {};
  }
}

bool contains(const std::vector<Interruption>& all, const Interruption& one) {
  return std::any_of(all.begin(), all.end(), [&](const Interruption& other) {
    return other.rank == one.rank && other.host == one.host && other.signal_or_error == one.signal_or_error &&
           other.activity == one.activity;
  });
}

void refuse_existing(const std::string& folder) {
  if (!exists(folder)) return;
  if (!fs::is_directory(folder)) throw UserError(folder + ": is no folder", "choose another --output");
  if (!exists(folder + "/" + run_file)) {
    if (fs::is_empty(folder)) return;
    throw UserError(folder + ": holds other files than a run's", "choose another --output, or give --overwrite");
  }
  const Run old = parse_run(read_text(folder + "/" + run_file), folder + "/" + run_file);
  if (old.status == "complete") {
    throw UserError(fmt::format("{}: holds a finished run of {}", folder, old.started),
                    "choose another --output, or replace it with --overwrite");
  }
  std::error_code ignored;
  const std::string samples = folder + "/" + samples_file;
  if (!exists(samples) || fs::file_size(samples, ignored) == 0) return;  // nothing was measured: nothing is lost
  throw UserError(fmt::format("{}: holds an unfinished run ({})", folder, old.status),
                  "go on with it with --resume, or replace it with --overwrite");
}

}  // namespace

struct Store::Impl {
  std::string folder;
  Descriptor samples;
  std::int64_t records = 0;

  std::string path(const std::string& name) const { return folder + "/" + name; }

  void open_samples() {
    constexpr mode_t mode = 0666;
    samples = make_descriptor(::open(path(samples_file).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, mode));
    if (samples.get() < 0) fail("open", path(samples_file), errno);
    // Held as long as the store: two jobs in one folder would measure each other. (A file system without locks: none.)
    if (::flock(samples.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      throw UserError(folder + ": another job is writing this folder", "wait for its end, or choose another --output");
    }
  }

  void append(const std::string& line) {
    struct stat before {};
    if (::fstat(samples.get(), &before) != 0) fail("stat", path(samples_file), errno);
    const int error = write_all(samples.get(), line);
    if (error == 0) return;
    // Take the part that fitted back, so that the file ends in a whole record.
    if (::ftruncate(samples.get(), before.st_size) != 0)
      log(LogLevel::warning, path(samples_file) + ": ends in a torn line");
    fail("write", path(samples_file), error);
  }
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

Store Store::create(const std::string& folder, bool overwrite) {
  if (!overwrite) refuse_existing(folder);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw UserError(fmt::format("{}: cannot be made: {}", folder, error.message()), "choose another --output");
  auto impl = std::make_unique<Impl>();
  impl->folder = folder;
  impl->open_samples();
  for (const char* name : own_files) {
    if (std::string_view(name) != samples_file) fs::remove(impl->path(name), error);
  }
  if (::ftruncate(impl->samples.get(), 0) != 0) fail("truncate", impl->path(samples_file), errno);
  return Store(std::move(impl));
}

Store Store::resume(const std::string& folder) {
  const Run old = read_run(folder);
  if (old.status == "complete") {
    throw UserError(folder + ": holds a finished run: there is nothing to go on with",
                    "choose another --output, or replace it with --overwrite");
  }
  auto impl = std::make_unique<Impl>();
  impl->folder = folder_of(folder);
  impl->open_samples();
  const std::string text = read_text(impl->path(samples_file));
  if (::ftruncate(impl->samples.get(), static_cast<off_t>(whole_lines(text))) != 0) {
    fail("truncate", impl->path(samples_file), errno);
  }
  return Store(std::move(impl));
}

// Another rank may have recorded that the job is dying since this one read or wrote the file: that is kept.
void Store::write(const Run& run) {
  const FolderLock lock(impl_->folder);
  Run merged = run;
  for (const Interruption& there : stored_interruptions(impl_->path(run_file))) {
    if (contains(run.interruptions, there)) continue;
    merged.interruptions.push_back(there);
    if (merged.status == "running") merged.status = "interrupted";
  }
  replace_file(impl_->folder, run_file, to_json(merged) + "\n", Flush::disk);
}

void Store::append(const Block& block) { impl_->append(sample_line(block)); }
void Store::append(const PointEnd& end) { impl_->append(sample_line(end)); }
void Store::append(const BenchRow& row) { impl_->append(sample_line(row)); }

void Store::write_file(const std::string& name, std::string_view content) {
  const FolderLock lock(impl_->folder);
  replace_file(impl_->folder, name, content, Flush::disk);
}

const std::string& Store::folder() const { return impl_->folder; }

Run read_run(const std::string& path) {
  const std::string folder = folder_of(path);
  const std::string file = folder + "/" + run_file;
  if (!exists(file)) throw UserError(folder + ": no run there (no run.json)", "give the folder that a run wrote");
  Run run = parse_run(read_text(file), file);
  read_samples(folder + "/" + samples_file, run);
  const std::string trace = folder + "/" + trace_file;
  if (exists(trace)) {
    try {
      run.trace = parse_trace(read_text(trace), trace);
    } catch (const UserError& error) {  // made from the run, nothing is lost: the report comes without a timeline
      log(LogLevel::warning, std::string(error.what()) + ": no timeline");
    }
  }
  return run;
}

void merge_interruption(const std::string& folder, const Interruption& interruption) {
  const FolderLock lock(folder);
  const std::string file = folder + "/" + run_file;
  if (!exists(file)) throw UserError(folder + ": no run there (no run.json)", "give the folder that a run wrote");
  Run run = parse_run(read_text(file), file);
  run.status = "interrupted";
  run.interruptions.push_back(interruption);
  replace_file(folder, run_file, to_json(run) + "\n", Flush::cache);
}

}  // namespace ringmaster::result
