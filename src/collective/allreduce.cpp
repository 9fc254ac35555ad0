// SPDX-License-Identifier: Apache-2.0
#include "collective/allreduce.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.hpp"
#include "base/registry.hpp"
#include "base/text.hpp"
#include "collective/executor.hpp"
#include "collective/library.hpp"
#include "schedule/builders.hpp"
#include "schedule/verifier.hpp"

namespace ringmaster::collective {
namespace {

std::string dashed(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

schedule::BuildContext context_of(const AllreduceChoice& choice, int ranks) {
  return {ranks, choice.rank_order, choice.parameters};
}

}  // namespace

std::span<const Library* const> libraries() {
#define LIBRARY(name) &name##_library(),
  static const std::array all{
#include "collective/libraries.def"
  };
#undef LIBRARY
  return all;
}

std::vector<VariantInfo> allreduce_variants() {
  std::vector<VariantInfo> variants;
  for (const Library* library : libraries()) variants.push_back({library->name, library->summary, {}, true});
  for (const schedule::Builder* builder : schedule::builders()) {
    variants.push_back({builder->name, builder->summary, builder->parameters, false});
  }
  return variants;
}

VariantInfo require_variant(const std::string& name) {
  std::vector<std::string> names;
  for (VariantInfo& variant : allreduce_variants()) {
    if (variant.name == dashed(name)) return variant;
    names.push_back(variant.name);
  }
  throw UserError("unknown allreduce '" + name + "'", suggestion(name, names));
}

Verdict supports(const AllreduceChoice& choice, int ranks) {
  const VariantInfo variant = require_variant(choice.algorithm);
  if (variant.is_library) {
    if (choice.rank_order.empty()) return Verdict::yes();
    return Verdict::no("the library orders its ranks itself");
  }
  const auto& builder = *find_entry(schedule::builders(), variant.name);
  return builder.supports(schedule::completed(builder, context_of(choice, ranks)));
}

struct Allreduce::Impl {
  transport::ProcessGroup& group;
  AllreduceChoice choice;
  const Library* library = nullptr;  // or
  std::optional<schedule::Schedule> schedule;
  int next_tag = 0;
};

Allreduce::Allreduce(transport::ProcessGroup& group, AllreduceChoice choice)
    : impl_(new Impl{group, std::move(choice), nullptr, std::nullopt}) {
  impl_->choice.algorithm = require_variant(impl_->choice.algorithm).name;
  impl_->library = find_entry(libraries(), impl_->choice.algorithm);
  if (impl_->library == nullptr) {
    impl_->schedule = schedule::build(impl_->choice.algorithm, context_of(impl_->choice, group.size()));
    return;
  }
  if (const Verdict verdict = impl_->library->supports(group); !verdict) {
    throw UserError(impl_->choice.algorithm + ": " + verdict.reason, "ringmaster list collectives names the others");
  }
}

Allreduce::~Allreduce() = default;
Allreduce::Allreduce(Allreduce&&) noexcept = default;
Allreduce& Allreduce::operator=(Allreduce&&) noexcept = default;

std::unique_ptr<Operation> Allreduce::prepare(const Buffers& buffers) {
  if (impl_->library != nullptr) return impl_->library->prepare(impl_->group, buffers);
  const int needed = tags_needed(*impl_->schedule);
  // Tags wrap around: operations that far apart are never in flight together.
  if (impl_->next_tag > impl_->group.highest_tag() - needed) impl_->next_tag = 0;
  const ExecutorOptions options{impl_->choice.segment_bytes, impl_->next_tag};
  impl_->next_tag += needed;
  return make_schedule_operation(impl_->group, *impl_->schedule, buffers, options);
}

const AllreduceChoice& Allreduce::choice() const { return impl_->choice; }

std::string Allreduce::what_runs() const {
  if (impl_->library != nullptr) return impl_->library->what_runs();
  std::int64_t segment = impl_->choice.segment_bytes;
  for (const schedule::Lane& lane : impl_->schedule->lanes) {
    if (impl_->choice.segment_bytes == 0) segment = std::max(segment, default_segment_bytes(lane.chunks));
  }
  return fmt::format("{} (ringmaster schedule, point-to-point over {}, segment {})", impl_->schedule->name,
                     impl_->group.transport_name(), format_size(segment));
}

std::string Allreduce::identity() const {
  if (impl_->library != nullptr) return std::string("library ") + impl_->library->name;
  return fmt::format("segment {}\n{}", impl_->choice.segment_bytes, canonical_form(*impl_->schedule));
}

Allreduce::Cost Allreduce::cost(std::int64_t bytes) const {
  if (impl_->library != nullptr) return {};
  const schedule::Schedule& whole = *impl_->schedule;
  std::vector<std::int64_t> messages(static_cast<std::size_t>(whole.ranks));
  for (std::size_t i = 0; i < whole.lanes.size(); ++i) {
    const schedule::Lane& lane = whole.lanes[i];
    const std::int64_t wished = impl_->choice.segment_bytes;
    const std::int64_t segment = wished > 0 ? wished : default_segment_bytes(lane.chunks);
    const std::int64_t slice = lane_elements(whole, i, bytes, 1).size();
    const std::int64_t segments = std::max<std::int64_t>(1, (slice + segment - 1) / segment);
    schedule::Schedule alone = whole;
    alone.lanes = {lane};
    const std::vector<std::int64_t> sent = count(alone).messages_sent;
    for (std::size_t rank = 0; rank < messages.size(); ++rank) messages[rank] += sent[rank] * segments;
  }
  return {*std::max_element(messages.begin(), messages.end()),
          count(whole).busiest_sent() * static_cast<double>(bytes)};
}

}  // namespace ringmaster::collective
