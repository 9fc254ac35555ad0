// SPDX-License-Identifier: Apache-2.0
// A training step allocates nothing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "base/registry.hpp"
#include "gradient_check.hpp"
#include "model/optimizer.hpp"

namespace {
std::size_t allocations = 0;
}

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace ringmaster::model {
namespace {

TEST(Step, AllocatesNothing) {
  for (const ModelEntry* const entry : models()) {
    Workbench<float> bench(make_model(small_choice(entry->name)), 2, 1);
    const std::size_t parameters = bench.values().size();
    Optimizer optimizer({}, 100000);
    const std::size_t before = allocations;
    bench.forward();
    bench.backward();
    optimizer.begin_step();
    for (std::size_t p = 0; p < parameters; ++p) optimizer.update(0, bench.values()[p], bench.gradients()[p], 1, true);
    EXPECT_EQ(allocations, before) << entry->name;
  }
  EXPECT_GT(allocations, 0U);  // they are counted
}

}  // namespace
}  // namespace ringmaster::model
