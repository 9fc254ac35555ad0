// SPDX-License-Identifier: Apache-2.0
// Each operation is exact in its rounding, so any vector width gives the same bits; only the order of the sources
// counts. One function holds all loops; the compiler makes its forms, the loader's resolver picks one when the program
// starts.
#include "kernels/cpu/reduce.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/error.hpp"
#include "kernels/reference/element.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define RINGMASTER_FORMS __attribute__((target_clones("avx512f", "avx2", "default")))
#define RINGMASTER_IN_EACH_FORM inline __attribute__((always_inline))
#else
#define RINGMASTER_FORMS
#define RINGMASTER_IN_EACH_FORM inline
#endif

namespace ringmaster::kernels {
namespace {

using reference::Element;

template <class T>
using Wide = typename Element<T>::Wide;

/// Reads a vector of elements.
template <class T>
struct Vector {
  const T* at;
  RINGMASTER_IN_EACH_FORM Wide<T> operator()(std::int64_t i) const { return Element<T>::widen(at[i]); }
};
/// Reads what an earlier pass left.
template <class W>
struct Partial {
  const W* at;
  RINGMASTER_IN_EACH_FORM W operator()(std::int64_t i) const { return at[i]; }
};

/// The last pass divides and rounds; the others keep what they have.
template <class T>
struct Rounded {
  T* at;
  RINGMASTER_IN_EACH_FORM void operator()(std::int64_t i, Wide<T> value) const { at[i] = Element<T>::narrow(value); }
};
template <class T>
struct Divided {
  T* at;
  std::int64_t divisor;
  RINGMASTER_IN_EACH_FORM void operator()(std::int64_t i, Wide<T> value) const {
    at[i] = Element<T>::narrow(reference::divided(value, divisor));
  }
};
template <class W>
struct Kept {
  W* at;
  RINGMASTER_IN_EACH_FORM void operator()(std::int64_t i, W value) const { at[i] = value; }
};

// Plain pointers without restrict: destination may be a source. Element i depends on elements i only, and a source
// never overlaps the destination partly (the header's promise): ivdep tells the compiler so.
template <class Op, class Store, class First, class... Others>
RINGMASTER_IN_EACH_FORM void pass(std::int64_t count, const Store& store, const First& first, const Others&... others) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    auto value = first(i);
    ((value = Op::apply(value, others(i))), ...);
    store(i, value);
  }
}

// Many sources go block by block: the partial results of a block stay in the nearest cache.
constexpr std::int64_t block_bytes = 8192;

template <class T>
RINGMASTER_IN_EACH_FORM Vector<T> from(std::span<const std::byte* const> s, std::size_t k, std::int64_t i = 0) {
  return {reinterpret_cast<const T*>(s[k]) + i};
}

/// Element i of what a store writes is element i + begin.
template <class Store>
RINGMASTER_IN_EACH_FORM Store moved(Store store, std::int64_t begin) {
  store.at += begin;
  return store;
}

// The first four, then three at a time; the last one to four go straight to the destination, which may be a source
// that is still to be read until then.
template <class T, class Op, class Store>
RINGMASTER_IN_EACH_FORM void combine_many(std::span<const std::byte* const> s, const Store& store, std::int64_t count) {
  using W = Wide<T>;
  constexpr auto block = static_cast<std::int64_t>(block_bytes / sizeof(W));
  alignas(64) std::array<W, static_cast<std::size_t>(block)> partial;
  const Kept<W> keep{partial.data()};
  const Partial<W> kept{partial.data()};
  for (std::int64_t i = 0; i < count; i += block) {
    const std::int64_t n = std::min(block, count - i);
    pass<Op>(n, keep, from<T>(s, 0, i), from<T>(s, 1, i), from<T>(s, 2, i), from<T>(s, 3, i));
    std::size_t k = 4;
    for (; k + 3 < s.size(); k += 3)
      pass<Op>(n, keep, kept, from<T>(s, k, i), from<T>(s, k + 1, i), from<T>(s, k + 2, i));
    const Store out = moved(store, i);
    switch (s.size() - k) {
      case 1: pass<Op>(n, out, kept, from<T>(s, k, i)); break;
      case 2: pass<Op>(n, out, kept, from<T>(s, k, i), from<T>(s, k + 1, i)); break;
      default: pass<Op>(n, out, kept, from<T>(s, k, i), from<T>(s, k + 1, i), from<T>(s, k + 2, i)); break;
    }
  }
}

template <class T, class Op, class Store>
RINGMASTER_IN_EACH_FORM void combine(std::span<const std::byte* const> s, const Store& store, std::int64_t count) {
  switch (s.size()) {
    case 1: pass<Op>(count, store, from<T>(s, 0)); break;
    case 2: pass<Op>(count, store, from<T>(s, 0), from<T>(s, 1)); break;
    case 3: pass<Op>(count, store, from<T>(s, 0), from<T>(s, 1), from<T>(s, 2)); break;
    case 4: pass<Op>(count, store, from<T>(s, 0), from<T>(s, 1), from<T>(s, 2), from<T>(s, 3)); break;
    default: combine_many<T, Op>(s, store, count);
  }
}

template <class T>
RINGMASTER_IN_EACH_FORM void combine_typed(std::span<const std::byte* const> s, std::byte* destination,
                                           std::int64_t count, const Arithmetic& arithmetic) {
  T* const out = reinterpret_cast<T*>(destination);
  switch (arithmetic.reduction) {
    case Reduction::min: combine<T, reference::Min>(s, Rounded<T>{out}, count); break;
    case Reduction::max: combine<T, reference::Max>(s, Rounded<T>{out}, count); break;
    default:
      if (arithmetic.divisor == 1) {
        combine<T, reference::Sum>(s, Rounded<T>{out}, count);
      } else {
        combine<T, reference::Sum>(s, Divided<T>{out, arithmetic.divisor}, count);
      }
  }
}

RINGMASTER_FORMS void combine_all(std::span<const std::byte* const> s, std::byte* destination, std::int64_t count,
                                  const Arithmetic& arithmetic) {
  switch (arithmetic.type) {
    case DataType::float32: combine_typed<float>(s, destination, count, arithmetic); break;
    case DataType::float64: combine_typed<double>(s, destination, count, arithmetic); break;
    case DataType::float16: combine_typed<Float16>(s, destination, count, arithmetic); break;
    case DataType::bfloat16: combine_typed<BFloat16>(s, destination, count, arithmetic); break;
    case DataType::int8: combine_typed<std::int8_t>(s, destination, count, arithmetic); break;
    case DataType::uint8: combine_typed<std::uint8_t>(s, destination, count, arithmetic); break;
    case DataType::int32: combine_typed<std::int32_t>(s, destination, count, arithmetic); break;
    case DataType::int64: combine_typed<std::int64_t>(s, destination, count, arithmetic); break;
  }
}

bool is_copy(std::span<const std::byte* const> sources, const Arithmetic& arithmetic) {
  return sources.size() == 1 && arithmetic.divisor == 1;
}

// One block for all destinations while it is in the nearest cache.
constexpr std::int64_t store_block_bytes = 4096;

bool aligned(const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at) % 16 == 0; }

#if defined(__SSE2__)
/// Past the caches; the destination is a multiple of 16.
void stream(const std::byte* source, std::byte* destination, std::int64_t bytes) {
  std::int64_t at = 0;
  for (; at + 16 <= bytes; at += 16) {
    const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(source + at));
    _mm_stream_si128(reinterpret_cast<__m128i*>(destination + at), value);
  }
  if (at < bytes) std::memcpy(destination + at, source + at, static_cast<std::size_t>(bytes - at));
}
void end_of_streaming() { _mm_sfence(); }
#else
void stream(const std::byte* source, std::byte* destination, std::int64_t bytes) {
  std::memcpy(destination, source, static_cast<std::size_t>(bytes));
}
void end_of_streaming() {}
#endif

void stream_or_copy(const std::byte* source, std::byte* destination, std::int64_t bytes) {
  if (aligned(destination)) {
    stream(source, destination, bytes);
  } else {
    std::memcpy(destination, source, static_cast<std::size_t>(bytes));
  }
}

/// Calls `block(sources, first byte, elements)` for one block of elements after the other.
template <class Block>
void block_by_block(std::span<const std::byte* const> sources, std::int64_t count, std::int64_t width,
                    const Block& block) {
  const std::int64_t most = store_block_bytes / width;
  std::array<const std::byte*, most_sources> at;
  for (std::int64_t i = 0; i < count; i += most) {
    for (std::size_t s = 0; s < sources.size(); ++s) at[s] = sources[s] + i * width;
    block(std::span<const std::byte* const>(at.data(), sources.size()), i * width, std::min(most, count - i));
  }
}

void reduce_and_stream(std::span<const std::byte* const> sources, std::span<std::byte* const> destinations,
                       std::int64_t count, const Arithmetic& arithmetic) {
  alignas(64) std::array<std::byte, store_block_bytes> buffer;
  const bool copies = is_copy(sources, arithmetic);
  const std::int64_t width = size_of(arithmetic.type);
  block_by_block(sources, count, width, [&](auto block, std::int64_t begin, std::int64_t n) {
    if (!copies) combine_all(block, buffer.data(), n, arithmetic);
    const std::byte* const result = copies ? block.front() : buffer.data();
    for (std::byte* const destination : destinations) stream_or_copy(result, destination + begin, n * width);
  });
  end_of_streaming();
}

void reduce_and_copy(std::span<const std::byte* const> sources, std::span<std::byte* const> destinations,
                     std::int64_t count, const Arithmetic& arithmetic) {
  const std::int64_t width = size_of(arithmetic.type);
  block_by_block(sources, count, width, [&](auto block, std::int64_t begin, std::int64_t n) {
    std::byte* const first = destinations.front() + begin;
    reduce(block, first, n, arithmetic);
    for (std::byte* const other : destinations.subspan(1)) {
      std::memcpy(other + begin, first, static_cast<std::size_t>(n * width));
    }
  });
}

}  // namespace

void reduce_store(std::span<const std::byte* const> sources, std::span<std::byte* const> destinations,
                  std::int64_t count, const Arithmetic& arithmetic, Stores stores) {
  RINGMASTER_ASSERT(!destinations.empty() && sources.size() <= most_sources, "a sum of too many, or stored nowhere");
  if (stores == Stores::streaming) {
    reduce_and_stream(sources, destinations, count, arithmetic);
  } else if (destinations.size() == 1) {
    reduce(sources, destinations.front(), count, arithmetic);
  } else {
    reduce_and_copy(sources, destinations, count, arithmetic);
  }
}

void reduce(std::span<const std::byte* const> sources, std::byte* destination, std::int64_t count,
            const Arithmetic& arithmetic) {
  RINGMASTER_ASSERT(!sources.empty(), "a sum of nothing");
  RINGMASTER_ASSERT(arithmetic.reduction != Reduction::average, "an average is a sum with a divisor");
  if (count == 0) return;
  if (!is_copy(sources, arithmetic)) {
    combine_all(sources, destination, count, arithmetic);
  } else if (sources.front() != destination) {
    std::memcpy(destination, sources.front(), static_cast<std::size_t>(count * size_of(arithmetic.type)));
  }
}

const char* reduce_form() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0) return "avx512";
  if (__builtin_cpu_supports("avx2") != 0) return "avx2";
#endif
  return "baseline";
}

}  // namespace ringmaster::kernels
