// SPDX-License-Identifier: Apache-2.0
// The folder of a run: written as it happens, read back by report, compare and resume. Files are written beside
// and renamed; samples are appended and flushed line by line. A full disk is a SystemError that names the file and
// what is safe. Only one process writes (rank 0; in an interrupted job any survivor merges its interruption).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "result/schema.hpp"

namespace ringmaster::result {

class Store {
 public:
  /// Makes the folder. An existing finished run is refused (UserError with the cure) unless `overwrite`.
  static Store create(const std::string& folder, bool overwrite);
  /// Opens an unfinished run to go on with it.
  static Store resume(const std::string& folder);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  /// run.json, all but blocks, ends and rows.
  void write(const Run& run);
  void append(const Block& block);
  void append(const PointEnd& end);
  void append(const BenchRow& row);
  /// Any other file of the folder, written beside and renamed.
  void write_file(const std::string& name, std::string_view content);
  const std::string& folder() const;

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Reads a folder (or its run.json): samples included. UserError: no run there, newer schema, damaged file.
Run read_run(const std::string& folder);

/// Adds an interruption to run.json and sets status "interrupted". Takes a file lock: several ranks may call it.
void merge_interruption(const std::string& folder, const Interruption& interruption);

/// JSON of everything but samples / of everything.
std::string to_json(const Run& run, int indent = 2);
std::string to_json_complete(const Run& run, int indent = 2);

/// A copy fit to be committed: hosts become node0.., no users, paths or addresses; CPU and versions stay.
Run published(Run run);

}  // namespace ringmaster::result
