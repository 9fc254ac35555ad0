// SPDX-License-Identifier: Apache-2.0
// Matrix products through BLAS: the only file behind which it is called. All matrices are row-major; `stride` is the
// distance of rows in elements, so that heads of attention are read and written in place.
#pragma once

#include <cstdint>

namespace ringmaster::tensor {

enum class Transpose : std::uint8_t { no, yes };

/// A matrix that is read. `stride` is that of the matrix as stored.
template <class T>
struct Operand {
  const T* data = nullptr;
  std::int64_t stride = 0;
  Transpose transpose = Transpose::no;
};

template <class T>
struct Target {
  T* data = nullptr;
  std::int64_t stride = 0;
};

/// c (m, n) = alpha a (m, k) b (k, n) + beta c.  beta = 0 does not read c.
template <class T>
struct Product {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Operand<T> a;
  Operand<T> b;
  Target<T> c;
  T alpha = 1;
  T beta = 0;
};

void gemm(const Product<float>& product);
void gemm(const Product<double>& product);

}  // namespace ringmaster::tensor
