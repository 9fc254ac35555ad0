// SPDX-License-Identifier: Apache-2.0
#include "collective/copy_bound.hpp"

#include <array>

#include "base/activity.hpp"

namespace ringmaster::collective {
namespace {

class Copy final : public Operation {
 public:
  Copy(const Buffers& buffers, kernels::Stores stores) : buffers_(buffers), stores_(stores) {}

 private:
  void copy(std::span<const std::byte> from, std::span<std::byte> to) const {
    const std::array<const std::byte*, 1> source{from.data()};
    const std::array<std::byte*, 1> destination{to.data()};
    kernels::reduce_store(source, destination, static_cast<std::int64_t>(to.size()), {DataType::uint8}, stores_);
  }
  void do_start() override {}
  bool do_progress() override {
    if (buffers_.input.data() == buffers_.output.data()) {
      const std::size_t half = buffers_.output.size() / 2;
      copy(buffers_.output.first(half), buffers_.output.last(half));
      copy(buffers_.output.last(half), buffers_.output.first(half));
    } else {
      copy(buffers_.input, buffers_.output);
    }
    activity().touch();
    return true;
  }

  Buffers buffers_;
  kernels::Stores stores_;
};

}  // namespace

std::unique_ptr<Operation> make_copy(const Buffers& buffers, kernels::Stores stores) {
  return std::make_unique<Copy>(buffers, stores);
}

}  // namespace ringmaster::collective
