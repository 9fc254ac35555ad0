// SPDX-License-Identifier: Apache-2.0
// The file of a checkpoint:
//
//   magic (8 bytes), config hash (length, characters), step, loader's batches, trainer (length, bytes), XXH3 of all
//
// Written to NAME.partial, flushed to the disk and renamed: a kill at any moment leaves the old file or the new one.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/error.hpp"
#include "parallel/bytes.hpp"
#include "parallel/data_parallel.hpp"

namespace ringmaster::parallel {
namespace {

constexpr std::array<char, 8> magic = {'R', 'M', 'C', 'H', 'K', 'P', 'T', '1'};
constexpr std::size_t smallest_file = magic.size() + 4 * sizeof(std::int64_t) + sizeof(std::uint64_t);

[[noreturn]] void complain(const std::string& path, const std::string& text, const std::string& hint) {
  throw UserError(std::vector<Complaint>{Complaint{Place{path, 0, 0}, text, hint}});
}

/// A descriptor that closes itself; `close` reports what the disk says only at the end.
class File {
 public:
  File(std::string path, int flags) : path_(std::move(path)), file_(::open(path_.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~File() {
    if (file_ >= 0) ::close(file_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File(File&&) = delete;
  File& operator=(File&&) = delete;

  bool open() const { return file_ >= 0; }
  int get() const { return file_; }
  void close() {
    if (::close(std::exchange(file_, -1)) != 0) throw_os_error("close", path_);
  }

 private:
  std::string path_;
  int file_;
};

void write_all(const std::string& path, std::span<const std::byte> bytes) {
  File file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.open()) throw_os_error("open", path);
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_os_error("write", path);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  if (::fsync(file.get()) != 0) throw_os_error("fsync", path);
  file.close();
}

std::vector<std::byte> read_all(const std::string& path) {
  const File file(path, O_RDONLY);
  if (!file.open())
    complain(path, std::string("checkpoint cannot be read: ") + std::strerror(errno), "is the path right?");
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) throw_os_error("fstat", path);
  if (!S_ISREG(facts.st_mode)) complain(path, "is no checkpoint file", "name the file that train.checkpoint wrote");
  std::vector<std::byte> bytes(static_cast<std::size_t>(facts.st_size));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_os_error("read", path);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

bool get_block(ByteReader& reader, auto& block) {
  std::int64_t size = 0;
  if (!reader.get(size) || size < 0 || static_cast<std::uint64_t>(size) > reader.left()) return false;
  block.resize(static_cast<std::size_t>(size));
  return reader.get_bytes(std::as_writable_bytes(std::span(block.data(), block.size())));
}

void put_block(ByteWriter& writer, std::span<const std::byte> block) {
  writer.put(static_cast<std::int64_t>(block.size()));
  writer.put_bytes(block);
}

}  // namespace

void write_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  ByteWriter writer;
  writer.reserve(smallest_file + checkpoint.identity.size() + checkpoint.trainer.size());
  writer.put(magic);
  put_block(writer, std::as_bytes(std::span(checkpoint.identity)));
  writer.put(checkpoint.step);
  writer.put(checkpoint.loader.batches);
  put_block(writer, checkpoint.trainer);
  writer.put(std::uint64_t{XXH3_64bits(writer.bytes().data(), writer.bytes().size())});
  const std::string partial = path + ".partial";
  try {
    write_all(partial, writer.bytes());
  } catch (...) {
    ::unlink(partial.c_str());  // a full disk gets its bytes back; the old checkpoint is whole
    throw;
  }
  if (std::rename(partial.c_str(), path.c_str()) != 0) throw_os_error("rename", path);
}

Checkpoint read_checkpoint(const std::string& path) {
  const char* const cure = "remove it: the steps are then repeated";
  const std::vector<std::byte> bytes = read_all(path);
  if (bytes.size() < magic.size() || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) {
    complain(path, "is no checkpoint of this version", cure);
  }
  if (bytes.size() < smallest_file) complain(path, "checkpoint is cut off", cure);
  const std::span<const std::byte> body(bytes.data(), bytes.size() - sizeof(std::uint64_t));
  std::uint64_t stored = 0;
  std::memcpy(&stored, body.data() + body.size(), sizeof stored);
  if (XXH3_64bits(body.data(), body.size()) != stored) {
    complain(path, "checkpoint is damaged: its hash does not match", cure);
  }
  ByteReader reader(body.subspan(magic.size()));
  Checkpoint checkpoint;
  const bool whole = get_block(reader, checkpoint.identity) && reader.get(checkpoint.step) &&
                     reader.get(checkpoint.loader.batches) && get_block(reader, checkpoint.trainer);
  if (!whole || reader.left() != 0 || checkpoint.step < 0 || checkpoint.loader.batches < 0) {
    complain(path, "checkpoint is damaged", cure);
  }
  return checkpoint;
}

}  // namespace ringmaster::parallel
