// SPDX-License-Identifier: Apache-2.0
// Addition is exact in its rounding, so any vector width gives the same bits; only the order of the sources counts.
// The compiler makes the forms; the loader's resolver picks one when the program starts.
#include "kernels/cpu/reduce.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/error.hpp"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_ADDRESS__)
#define RINGMASTER_FORMS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define RINGMASTER_FORMS
#endif

namespace ringmaster::kernels {
namespace {

// Plain pointers without restrict: destination may be a source. Element i depends on elements i only, and a source
// never overlaps the destination partly (the header's promise): ivdep tells the compiler so.
RINGMASTER_FORMS void add_2_f32(const float* a, const float* b, float* out, std::int64_t n) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}
RINGMASTER_FORMS void add_3_f32(const float* a, const float* b, const float* c, float* out, std::int64_t n) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) out[i] = (a[i] + b[i]) + c[i];
}
RINGMASTER_FORMS void add_4_f32(const float* a, const float* b, const float* c, const float* d, float* out,
                                std::int64_t n) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) out[i] = ((a[i] + b[i]) + c[i]) + d[i];
}
RINGMASTER_FORMS void add_2_f64(const double* a, const double* b, double* out, std::int64_t n) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) out[i] = a[i] + b[i];
}
RINGMASTER_FORMS void add_3_f64(const double* a, const double* b, const double* c, double* out, std::int64_t n) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) out[i] = (a[i] + b[i]) + c[i];
}
RINGMASTER_FORMS void add_4_f64(const double* a, const double* b, const double* c, const double* d, double* out,
                                std::int64_t n) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) out[i] = ((a[i] + b[i]) + c[i]) + d[i];
}

void add(const float* a, const float* b, float* out, std::int64_t n) { add_2_f32(a, b, out, n); }
void add(const float* a, const float* b, const float* c, float* out, std::int64_t n) { add_3_f32(a, b, c, out, n); }
void add(const float* a, const float* b, const float* c, const float* d, float* out, std::int64_t n) {
  add_4_f32(a, b, c, d, out, n);
}
void add(const double* a, const double* b, double* out, std::int64_t n) { add_2_f64(a, b, out, n); }
void add(const double* a, const double* b, const double* c, double* out, std::int64_t n) { add_3_f64(a, b, c, out, n); }
void add(const double* a, const double* b, const double* c, const double* d, double* out, std::int64_t n) {
  add_4_f64(a, b, c, d, out, n);
}

// Many sources go block by block: the partial sums of a block stay in the nearest cache.
constexpr std::int64_t block_bytes = 8192;

template <class T>
const T* at(const std::byte* source, std::int64_t element) {
  return reinterpret_cast<const T*>(source) + element;
}

template <class T>
void sum_many(std::span<const std::byte* const> s, T* out, std::int64_t count) {
  alignas(64) T partial[block_bytes / sizeof(T)];
  constexpr auto block = static_cast<std::int64_t>(block_bytes / sizeof(T));
  for (std::int64_t i = 0; i < count; i += block) {
    const std::int64_t n = count - i < block ? count - i : block;
    // Into a buffer of our own: the destination may be a source that is still to be read.
    add(at<T>(s[0], i), at<T>(s[1], i), at<T>(s[2], i), at<T>(s[3], i), partial, n);
    std::size_t k = 4;
    for (; k + 3 <= s.size(); k += 3) {
      add(static_cast<const T*>(partial), at<T>(s[k], i), at<T>(s[k + 1], i), at<T>(s[k + 2], i), partial, n);
    }
    for (; k < s.size(); ++k) add(static_cast<const T*>(partial), at<T>(s[k], i), partial, n);
    std::memcpy(out + i, partial, static_cast<std::size_t>(n) * sizeof(T));
  }
}

template <class T>
void sum(std::span<const std::byte* const> s, std::byte* destination, std::int64_t count) {
  T* const out = reinterpret_cast<T*>(destination);
  switch (s.size()) {
    case 1:
      if (s[0] != destination) std::memcpy(destination, s[0], static_cast<std::size_t>(count) * sizeof(T));
      break;
    case 2: add(at<T>(s[0], 0), at<T>(s[1], 0), out, count); break;
    case 3: add(at<T>(s[0], 0), at<T>(s[1], 0), at<T>(s[2], 0), out, count); break;
    case 4: add(at<T>(s[0], 0), at<T>(s[1], 0), at<T>(s[2], 0), at<T>(s[3], 0), out, count); break;
    default: sum_many(s, out, count);
  }
}

// One block for all destinations while it is in the nearest cache.
constexpr std::int64_t store_block_bytes = 4096;

bool aligned(const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at) % 16 == 0; }

#if defined(__SSE2__)
/// Past the caches; both addresses are multiples of 16.
void stream(const std::byte* source, std::byte* destination, std::int64_t bytes) {
  std::int64_t at = 0;
  for (; at + 16 <= bytes; at += 16) {
    const __m128i value = _mm_load_si128(reinterpret_cast<const __m128i*>(source + at));
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

void reduce_and_stream(std::span<const std::byte* const> sources, std::span<std::byte* const> destinations,
                       std::int64_t count, DataType type) {
  alignas(64) std::byte block[store_block_bytes];
  const std::int64_t width = size_of(type);
  const std::int64_t most = store_block_bytes / width;
  std::array<const std::byte*, most_sources> moved;
  for (std::int64_t i = 0; i < count; i += most) {
    const std::int64_t n = std::min(most, count - i);
    for (std::size_t s = 0; s < sources.size(); ++s) moved[s] = sources[s] + i * width;
    reduce_sum({moved.data(), sources.size()}, block, n, type);
    for (std::byte* const destination : destinations) {
      std::byte* const to = destination + i * width;
      if (aligned(to)) {
        stream(block, to, n * width);
      } else {
        std::memcpy(to, block, static_cast<std::size_t>(n * width));
      }
    }
  }
  end_of_streaming();
}

void reduce_and_copy(std::span<const std::byte* const> sources, std::span<std::byte* const> destinations,
                     std::int64_t count, DataType type) {
  const std::int64_t width = size_of(type);
  const std::int64_t most = store_block_bytes / width;
  std::array<const std::byte*, most_sources> moved;
  for (std::int64_t i = 0; i < count; i += most) {
    const std::int64_t n = std::min(most, count - i);
    for (std::size_t s = 0; s < sources.size(); ++s) moved[s] = sources[s] + i * width;
    std::byte* const first = destinations.front() + i * width;
    reduce_sum({moved.data(), sources.size()}, first, n, type);
    for (std::byte* const other : destinations.subspan(1)) {
      std::memcpy(other + i * width, first, static_cast<std::size_t>(n * width));
    }
  }
}

}  // namespace

void reduce_store(std::span<const std::byte* const> sources, std::span<std::byte* const> destinations,
                  std::int64_t count, DataType type, Stores stores) {
  RINGMASTER_ASSERT(!destinations.empty() && sources.size() <= most_sources, "a sum of too many, or stored nowhere");
  if (stores == Stores::streaming) {
    reduce_and_stream(sources, destinations, count, type);
  } else if (destinations.size() == 1) {
    reduce_sum(sources, destinations.front(), count, type);
  } else {
    reduce_and_copy(sources, destinations, count, type);
  }
}

void reduce_sum(std::span<const std::byte* const> sources, std::byte* destination, std::int64_t count, DataType type) {
  RINGMASTER_ASSERT(!sources.empty(), "a sum of nothing");
  if (count == 0) return;
  if (type == DataType::float32) {
    sum<float>(sources, destination, count);
  } else {
    sum<double>(sources, destination, count);
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
