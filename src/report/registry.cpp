// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <sstream>

#include "report/exporter.hpp"

namespace ringmaster::report {

std::span<const Exporter* const> exporters() {
  static const std::array all{
#define EXPORTER(name) &name##_exporter(),
#include "report/exporters.def"
#undef EXPORTER
  };
  return all;
}

void write_exports(const result::Run& run, result::Store& store) {
  for (const Exporter* exporter : exporters()) {
    if (exporter->file[0] == '\0') continue;
    std::ostringstream text;
    exporter->write(run, {}, text);
    store.write_file(exporter->file, text.str());
  }
}

}  // namespace ringmaster::report
