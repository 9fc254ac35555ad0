// SPDX-License-Identifier: Apache-2.0
// Byte tokens from text files: one file, or every text file below a folder in the order of relative paths. Files
// are memory-mapped and taken as one long text; sample i is the length + 1 bytes at i * length, so that each byte
// is the target of one sample only. The last share of the samples is held out.
//
// Left out, and counted in describe(): hidden names (".git"), empty files, binary files (a zero byte in the first
// 8 KiB, as git decides it) and second links to the same file.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "data/dataset.hpp"

namespace ringmaster::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t byte_values = 256;
constexpr std::size_t sniffed_bytes = 8192;
constexpr std::int64_t entropy_block = 64 << 10;
constexpr std::int64_t entropy_bytes = 64 << 20;  // counted at most, in blocks spread evenly

const ParameterSpec specs[] = {
    {"held_out", ParameterType::real, "", "0.05", 0, 0.5, "share of the samples, from the end, never trained on"},
};

[[noreturn]] void complain(const std::string& path, const std::string& text, const std::string& hint = {}) {
  throw UserError(std::vector<Complaint>{Complaint{Place{path, 0, 0}, text, hint}});
}

/// A file in memory, read only. Move only.
class Mapping {
 public:
  explicit Mapping(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) complain(path, std::string("cannot be read: ") + std::strerror(errno));
    struct stat facts {};
    if (::fstat(file, &facts) != 0) {
      ::close(file);
      throw_os_error("fstat", path);
    }
    device_ = facts.st_dev;
    inode_ = facts.st_ino;
    size_ = static_cast<std::size_t>(facts.st_size);
    void* address = nullptr;
    int failure = 0;
    if (size_ > 0) {
      address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
      if (address == MAP_FAILED) failure = errno;
    }
    ::close(file);
    if (failure == ENOMEM) {
      complain(path, "cannot be mapped: too many files or too little address space",
               "join the texts into fewer files, or raise vm.max_map_count");
    }
    if (failure != 0) complain(path, std::string("cannot be mapped: ") + std::strerror(failure));
    data_ = static_cast<const unsigned char*>(address);
  }
  ~Mapping() {
    if (data_ != nullptr) ::munmap(const_cast<unsigned char*>(data_), size_);
  }
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        device_(other.device_),
        inode_(other.inode_) {}
  Mapping& operator=(Mapping&&) = delete;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::span<const unsigned char> bytes() const { return {data_, size_}; }
  std::pair<dev_t, ino_t> identity() const { return {device_, inode_}; }
  bool binary() const { return data_ != nullptr && std::memchr(data_, 0, std::min(size_, sniffed_bytes)) != nullptr; }

 private:
  const unsigned char* data_ = nullptr;
  std::size_t size_ = 0;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

struct Skipped {
  int binary = 0;
  int empty = 0;
  int hidden = 0;
  int repeated = 0;

  std::string text() const {
    std::string result;
    const auto add = [&result](int count, const char* what) {
      if (count > 0) result += fmt::format("{}{} {}", result.empty() ? "" : ", ", count, what);
    };
    add(binary, "binary");
    add(empty, "empty");
    add(hidden, "hidden");
    add(repeated, "repeated");
    return result;
  }
};

/// Regular files below `folder`, hidden names left out, by relative path (byte order: the same on every machine).
std::vector<std::string> files_below(const std::string& folder, Skipped& skipped) {
  std::vector<std::string> found;
  std::error_code error;
  fs::recursive_directory_iterator walk(folder, error);
  if (error) complain(folder, "cannot be listed: " + error.message());
  for (const fs::recursive_directory_iterator end; walk != end; walk.increment(error)) {
    const std::string name = walk->path().filename().string();
    if (!name.empty() && name.front() == '.') {
      ++skipped.hidden;
      walk.disable_recursion_pending();
      continue;
    }
    std::error_code ignored;  // a dangling or looping link is no regular file; links to folders are not followed
    if (walk->is_regular_file(ignored)) found.push_back(walk->path().lexically_relative(folder).generic_string());
  }
  if (error) complain(folder, "cannot be listed: " + error.message());
  std::sort(found.begin(), found.end());
  return found;
}

std::string readable_bytes(std::int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  if (bytes < 1'000'000) return fmt::format("{:.1f} kB", value * 1e-3);
  if (bytes < 1'000'000'000) return fmt::format("{:.1f} MB", value * 1e-6);
  return fmt::format("{:.1f} GB", value * 1e-9);
}

class Text final : public Dataset {
 public:
  Text(const DataChoice& choice, const SampleShape& shape) : shape_(shape), path_(choice.path) {
    open_all();
    count_samples(choice.parameters.real("held_out"));
  }

  std::int64_t size() const override { return samples_ - held_out_; }
  std::int64_t held_out_size() const override { return held_out_; }
  SampleShape shape() const override { return shape_; }

  void fill(std::int64_t sample, std::int64_t slot, Batch& batch) const override {
    RINGMASTER_ASSERT(sample >= 0 && sample < samples_, "sample outside of the data");
    const std::int64_t length = shape_.length;
    const auto place = static_cast<std::size_t>(slot * length);
    std::size_t index = 0;  // of the window: byte i is input i and target i - 1
    visit(sample * length, length + 1, [&](std::span<const unsigned char> bytes) {
      for (const unsigned char byte : bytes) {
        if (index < static_cast<std::size_t>(length)) batch.tokens[place + index] = byte;
        if (index > 0) batch.targets[place + index - 1] = byte;
        ++index;
      }
    });
  }

  double unigram_entropy() const override {
    std::call_once(counted_once_, [this] { count_tokens(); });
    return entropy_;
  }

  std::string describe() const override {
    std::string text =
        fmt::format("text: {} file{}, {}, {} + {} samples of {} bytes", files_.size(), files_.size() == 1 ? "" : "s",
                    readable_bytes(total_), size(), held_out_, shape_.length);
    const std::string skipped = skipped_.text();
    if (!skipped.empty()) text += " (skipped: " + skipped + ")";
    return text;
  }

  std::string fingerprint() const override {
    std::call_once(counted_once_, [this] { count_tokens(); });
    return fingerprint_;
  }

 private:
  void open_all() {
    if (path_.empty()) {
      throw UserError("dataset 'text' needs a path", "data: {kind: text, path: a file or a folder}");
    }
    std::error_code error;
    const fs::file_status status = fs::status(path_, error);
    if (status.type() == fs::file_type::not_found) complain(path_, "no such file or folder");
    if (error) complain(path_, "cannot be read: " + error.message());  // a loop of links, no permission, too long
    if (fs::is_directory(status)) {
      const std::vector<std::string> names = files_below(path_, skipped_);
      for (const std::string& name : names) add((fs::path(path_) / name).string());
    } else if (fs::is_regular_file(status)) {
      add(path_);
    } else {
      complain(path_, "is neither a file nor a folder");
    }
  }

  void add(const std::string& path) {
    Mapping mapping(path);
    if (mapping.bytes().empty()) {
      ++skipped_.empty;
    } else if (!seen_.insert(mapping.identity()).second) {
      ++skipped_.repeated;
    } else if (mapping.binary()) {
      ++skipped_.binary;
    } else {
      starts_.push_back(total_);
      total_ += static_cast<std::int64_t>(mapping.bytes().size());
      files_.push_back(std::move(mapping));
    }
  }

  void count_samples(double held_out_share) {
    const std::int64_t needed = (held_out_share > 0 ? 2 : 1) * shape_.length + 1;
    if (total_ < needed) {
      const std::string skipped = skipped_.text();
      complain(path_,
               fmt::format("too little text: {} bytes in {} files, but samples of {} bytes need at least {}", total_,
                           files_.size(), shape_.length, needed),
               skipped.empty() ? "" : "skipped: " + skipped);
    }
    samples_ = (total_ - 1) / shape_.length;
    if (held_out_share <= 0) return;
    const auto wanted = static_cast<std::int64_t>(std::llround(held_out_share * static_cast<double>(samples_)));
    held_out_ = std::clamp<std::int64_t>(wanted, 1, samples_ - 1);
  }

  /// Calls `take` with the pieces of the text at [position, position + count), in order.
  template <class Take>
  void visit(std::int64_t position, std::int64_t count, const Take& take) const {
    auto file = static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), position) - starts_.begin());
    for (--file; count > 0; ++file) {
      const std::span<const unsigned char> bytes = files_[file].bytes();
      const std::int64_t from = position - starts_[file];
      const std::int64_t here = std::min(count, static_cast<std::int64_t>(bytes.size()) - from);
      take(bytes.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(here)));
      position += here;
      count -= here;
    }
  }

  /// Entropy and fingerprint, in one pass.
  void count_tokens() const {
    std::array<std::int64_t, byte_values> counts{};
    const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> hash(XXH3_createState(), XXH3_freeState);
    XXH3_64bits_reset(hash.get());
    for (const std::int64_t number : {total_, samples_, held_out_}) {
      XXH3_64bits_update(hash.get(), &number, sizeof number);
    }
    const std::int64_t blocks = (total_ + entropy_block - 1) / entropy_block;
    const std::int64_t stride = (total_ + entropy_bytes - 1) / entropy_bytes;
    for (std::int64_t block = 0; block < blocks; block += stride) {
      const std::int64_t begin = block * entropy_block;
      visit(begin, std::min(entropy_block, total_ - begin), [&](std::span<const unsigned char> bytes) {
        for (const unsigned char byte : bytes) ++counts[byte];
        XXH3_64bits_update(hash.get(), bytes.data(), bytes.size());
      });
    }
    fingerprint_ = fmt::format("{:016x}", XXH3_64bits_digest(hash.get()));
    std::int64_t sum = 0;
    for (const std::int64_t count : counts) sum += count;
    for (const std::int64_t count : counts) {
      const double share = static_cast<double>(count) / static_cast<double>(sum);
      if (count > 0) entropy_ -= share * std::log(share);
    }
  }

  SampleShape shape_;
  std::string path_;
  std::vector<Mapping> files_;
  std::vector<std::int64_t> starts_;  // of each file in the whole text
  std::set<std::pair<dev_t, ino_t>> seen_;
  Skipped skipped_;
  std::int64_t total_ = 0;
  std::int64_t samples_ = 0;
  std::int64_t held_out_ = 0;
  mutable std::once_flag counted_once_;
  mutable double entropy_ = 0;
  mutable std::string fingerprint_;
};

Verdict supports(const DataChoice&, const SampleShape& shape) {
  if (!shape.tokens) return Verdict::no("it reads features, text gives tokens; use 'synthetic'");
  if (shape.length < 1) return Verdict::no("a sample needs at least one token");
  if (shape.vocabulary < byte_values) {
    return Verdict::no(fmt::format("text needs a vocabulary of {}, the model has {}", byte_values, shape.vocabulary));
  }
  return Verdict::yes();
}

std::unique_ptr<Dataset> make(const DataChoice& choice, const SampleShape& shape) {
  return std::make_unique<Text>(choice, shape);
}

}  // namespace

const DatasetEntry& text_dataset() {
  static const DatasetEntry entry{"text", "byte tokens from a text file or all text files of a folder", specs, supports,
                                  make};
  return entry;
}

}  // namespace ringmaster::data
