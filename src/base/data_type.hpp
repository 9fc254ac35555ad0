// SPDX-License-Identifier: Apache-2.0
// Element types of collectives, and how elements combine.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ringmaster {

enum class DataType : std::uint8_t { float32, float64, float16, bfloat16, int8, uint8, int32, int64 };

/// average: the sum of all ranks, divided by their number where it is complete. Integers wrap as unsigned ones do, and
/// their average is rounded towards zero.
enum class Reduction : std::uint8_t { sum, min, max, average };

/// In the order of help; named as nccl-tests names them.
inline constexpr std::array data_types{DataType::float32, DataType::float64, DataType::float16, DataType::bfloat16,
                                       DataType::int8,    DataType::uint8,   DataType::int32,   DataType::int64};
inline constexpr std::array reductions{Reduction::sum, Reduction::min, Reduction::max, Reduction::average};

constexpr std::int64_t size_of(DataType type) {
  switch (type) {
    case DataType::float64:
    case DataType::int64: return 8;
    case DataType::float32:
    case DataType::int32: return 4;
    case DataType::float16:
    case DataType::bfloat16: return 2;
    case DataType::int8:
    case DataType::uint8: return 1;
  }
  return 0;
}

constexpr const char* name_of(DataType type) {
  switch (type) {
    case DataType::float32: return "float";
    case DataType::float64: return "double";
    case DataType::float16: return "half";
    case DataType::bfloat16: return "bfloat16";
    case DataType::int8: return "int8";
    case DataType::uint8: return "uint8";
    case DataType::int32: return "int32";
    case DataType::int64: return "int64";
  }
  return "";
}

constexpr const char* name_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum: return "sum";
    case Reduction::min: return "min";
    case Reduction::max: return "max";
    case Reduction::average: return "avg";
  }
  return "";
}

/// The way back from name_of; nothing for an unknown name.
constexpr std::optional<DataType> data_type_of(std::string_view name) {
  for (const DataType type : data_types) {
    if (name == name_of(type)) return type;
  }
  return std::nullopt;
}
constexpr std::optional<Reduction> reduction_of(std::string_view name) {
  for (const Reduction reduction : reductions) {
    if (name == name_of(reduction)) return reduction;
  }
  return std::nullopt;
}

}  // namespace ringmaster
