// SPDX-License-Identifier: Apache-2.0
// k vectors combined into d places: bytes read and written a second, by k, d, size and type. d = 1, k = 1 is a copy.
// Arguments: k, d, bytes of one vector.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cpu/reduce.hpp"

namespace {

using ringmaster::DataType;
using ringmaster::Reduction;
using ringmaster::kernels::Arithmetic;
using ringmaster::kernels::Stores;

void reduce_store(benchmark::State& state, const Arithmetic& arithmetic, Stores stores) {
  const auto k = static_cast<std::size_t>(state.range(0));
  const auto d = static_cast<std::size_t>(state.range(1));
  const auto bytes = static_cast<std::size_t>(state.range(2));
  const std::vector<std::vector<std::byte>> inputs(k, std::vector<std::byte>(bytes));
  std::vector<std::vector<std::byte>> outputs(d, std::vector<std::byte>(bytes));
  std::vector<const std::byte*> sources;
  for (const auto& input : inputs) sources.push_back(input.data());
  std::vector<std::byte*> destinations;
  for (auto& output : outputs) destinations.push_back(output.data());
  const std::int64_t count = state.range(2) / size_of(arithmetic.type);
  for (auto _ : state) {
    ringmaster::kernels::reduce_store(sources, destinations, count, arithmetic, stores);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(2) * (state.range(0) + state.range(1)));
  state.SetLabel(ringmaster::kernels::reduce_form());
}

void shapes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"k", "d", "bytes"})->ArgsProduct({{1, 2, 4, 8}, {1, 4}, {16 << 10, 1 << 20, 64 << 20}});
}
void short_shapes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"k", "d", "bytes"})->ArgsProduct({{2, 8}, {1}, {16 << 10, 1 << 20}});
}

void register_all() {
  const auto add = [](const std::string& name, const Arithmetic& arithmetic, Stores stores) {
    return benchmark::RegisterBenchmark(name.c_str(),
                                        [=](benchmark::State& state) { reduce_store(state, arithmetic, stores); });
  };
  add("float/sum/ordinary", {DataType::float32}, Stores::ordinary)->Apply(shapes);
  add("float/sum/streaming", {DataType::float32}, Stores::streaming)->Apply(shapes);
  for (const DataType type : ringmaster::data_types) {
    for (const Reduction reduction : {Reduction::sum, Reduction::max}) {
      add(std::string(name_of(type)) + "/" + name_of(reduction), {type, reduction, 1}, Stores::ordinary)
          ->Apply(short_shapes);
    }
    add(std::string(name_of(type)) + "/avg", {type, Reduction::sum, 3}, Stores::ordinary)->Apply(short_shapes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  register_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
