// SPDX-License-Identifier: Apache-2.0
// Sums of k vectors: bytes read and written a second, by k, size and type. Arguments: k, bytes of one vector.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cpu/reduce.hpp"

namespace {

template <class T>
void reduce(benchmark::State& state, ringmaster::DataType type) {
  const auto k = static_cast<std::size_t>(state.range(0));
  const std::int64_t count = state.range(1) / static_cast<std::int64_t>(sizeof(T));
  const std::vector<std::vector<T>> inputs(k, std::vector<T>(static_cast<std::size_t>(count), T{1}));
  std::vector<T> output(static_cast<std::size_t>(count));
  std::vector<const std::byte*> sources;
  sources.reserve(k);
  for (const std::vector<T>& input : inputs) sources.push_back(reinterpret_cast<const std::byte*>(input.data()));
  for (auto _ : state) {
    ringmaster::kernels::reduce_sum(sources, reinterpret_cast<std::byte*>(output.data()), count, type);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(1) * (state.range(0) + 1));
  state.SetLabel(ringmaster::kernels::reduce_form());
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"k", "bytes"})->ArgsProduct({{2, 3, 4, 8}, {16 << 10, 1 << 20, 64 << 20}});
}

void reduce_float32(benchmark::State& state) { reduce<float>(state, ringmaster::DataType::float32); }
void reduce_float64(benchmark::State& state) { reduce<double>(state, ringmaster::DataType::float64); }

BENCHMARK(reduce_float32)->Apply(sizes);
BENCHMARK(reduce_float64)->Apply(sizes);

}  // namespace
