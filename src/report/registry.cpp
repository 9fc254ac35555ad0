// SPDX-License-Identifier: Apache-2.0
#include <array>

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

}  // namespace ringmaster::report
