// SPDX-License-Identifier: Apache-2.0
// Exporters: one file in exporters/ and one line in exporters.def a format.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "result/schema.hpp"
#include "result/store.hpp"

namespace ringmaster::report {

struct ExportOptions {
  bool color = false;
  int width = 120;  // terminal columns
};
struct Exporter {
  const char* name;  // "terminal", "csv", "json", "trace"
  const char* file;  // default file name in the run's folder; "" for a terminal
  const char* summary;
  void (*write)(const result::Run&, const ExportOptions&, std::ostream&);
};
std::span<const Exporter* const> exporters();

/// Every format that has a file, into the run's folder.
void write_exports(const result::Run& run, result::Store& store);

#define EXPORTER(name) const Exporter& name##_exporter();
#include "report/exporters.def"
#undef EXPORTER

}  // namespace ringmaster::report
