// SPDX-License-Identifier: Apache-2.0
// Element types of collectives, and how elements combine.
#pragma once

#include <cstdint>

namespace ringmaster {

enum class DataType : std::uint8_t { float32, float64 };
enum class Reduction : std::uint8_t { sum };

constexpr std::int64_t size_of(DataType type) { return type == DataType::float32 ? 4 : 8; }
constexpr const char* name_of(DataType type) { return type == DataType::float32 ? "float" : "double"; }

}  // namespace ringmaster
