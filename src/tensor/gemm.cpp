// SPDX-License-Identifier: Apache-2.0
#include "tensor/gemm.hpp"

#include <cblas.h>

#include <limits>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "device/device.hpp"
#include "tensor/threads.hpp"

namespace ringmaster::tensor {
namespace {

blasint narrow(std::int64_t value) {
  RINGMASTER_ASSERT(value >= 0 && value <= std::numeric_limits<blasint>::max(), "a matrix too large for BLAS");
  return static_cast<blasint>(value);
}

CBLAS_TRANSPOSE flag(Transpose transpose) { return transpose == Transpose::yes ? CblasTrans : CblasNoTrans; }

}  // namespace

void gemm(const Product<float>& p) {
  cblas_sgemm(CblasRowMajor, flag(p.a.transpose), flag(p.b.transpose), narrow(p.m), narrow(p.n), narrow(p.k), p.alpha,
              p.a.data, narrow(p.a.stride), p.b.data, narrow(p.b.stride), p.beta, p.c.data, narrow(p.c.stride));
}

void gemm(const Product<double>& p) {
  cblas_dgemm(CblasRowMajor, flag(p.a.transpose), flag(p.b.transpose), narrow(p.m), narrow(p.n), narrow(p.k), p.alpha,
              p.a.data, narrow(p.a.stride), p.b.data, narrow(p.b.stride), p.beta, p.c.data, narrow(p.c.stride));
}

void set_threads(int threads) {
  RINGMASTER_ASSERT(threads >= 1, "products need a thread");
  openblas_set_num_threads(threads);
}

double gemm_seconds(int n) {
  const std::int64_t elements = std::int64_t{n} * n;
  const auto bytes = elements * static_cast<std::int64_t>(sizeof(float));
  const device::Buffer a(bytes);
  const device::Buffer b(bytes);
  const device::Buffer c(bytes);
  for (std::int64_t i = 0; i < elements; ++i) {
    a.as<float>()[static_cast<std::size_t>(i)] = static_cast<float>(i % 7) * 0.25F;
    b.as<float>()[static_cast<std::size_t>(i)] = static_cast<float>(i % 5) * 0.25F;
  }
  Product<float> product;
  product.m = product.n = product.k = n;
  product.a = {a.as<float>().data(), n};
  product.b = {b.as<float>().data(), n};
  product.c = {c.as<float>().data(), n};
  gemm(product);
  const Nanoseconds begin = now_ns();
  gemm(product);
  return static_cast<double>(now_ns() - begin) * 1e-9;
}

std::string blas_description() { return std::string(openblas_get_config()) + ", kernels " + openblas_get_corename(); }

}  // namespace ringmaster::tensor
