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
#include "collective/shared_executor.hpp"
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

/// With defaults for what was not given.
Parameters completed(std::span<const ParameterSpec> specs, const Parameters& given) {
  Parameters parameters = default_parameters(specs);
  for (const auto& [key, value] : given.values()) parameters.set(key, value);
  return parameters;
}

/// The defaults, with each choice of a text once.
std::vector<Parameters> each_choice(std::span<const ParameterSpec> specs) {
  std::vector<Parameters> all{default_parameters(specs)};
  for (const ParameterSpec& spec : specs) {
    for (const std::string& choice : spec.choices) {
      Parameters parameters = all.front();
      parameters.set(spec.name, choice);
      if (parameters.values() != all.front().values()) all.push_back(std::move(parameters));
    }
  }
  return all;
}

/// Whether there are several nodes, and some node has several ranks.
Verdict has_two_levels(const std::string& algorithm, const transport::ProcessGroup& group) {
  if (group.node_count() == 1) return Verdict::no("all ranks share one node: use " + algorithm + "@shared");
  if (group.node_count() == group.size()) return Verdict::no("no two ranks share a node: use " + algorithm);
  return Verdict::yes();
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
  for (const Library* library : libraries()) {
    const bool is_baseline = library->role == LibraryRole::baseline;
    variants.push_back({library->name, library->summary, library->parameters, true, is_baseline});
  }
  for (const schedule::Builder* builder : schedule::builders()) {
    variants.push_back({builder->name, builder->summary, builder->parameters, false, false});
  }
  return variants;
}

std::vector<AllreduceChoice> every_allreduce() {
  std::vector<AllreduceChoice> all;
  for (const VariantInfo& variant : allreduce_variants()) {
    const Library* library = find_entry(libraries(), variant.name);
    const bool shows = library != nullptr && library->shown != nullptr;
    for (Parameters& parameters : shows ? library->shown() : each_choice(variant.parameters)) {
      AllreduceChoice choice;
      choice.algorithm = variant.name;
      choice.parameters = std::move(parameters);
      all.push_back(choice);
      if (library != nullptr) continue;
      for (const Transport transport : {Transport::shared_memory, Transport::mixed}) {
        choice.transport = transport;
        all.push_back(choice);
      }
    }
  }
  return all;
}

std::string carried_name(const AllreduceChoice& choice) {
  if (choice.transport == Transport::messages) return choice.algorithm;
  return choice.algorithm + "@" + name_of(choice.transport);
}

std::string label(const AllreduceChoice& choice) {
  const VariantInfo variant = require_variant(choice.algorithm);
  const Parameters defaults = default_parameters(variant.parameters);
  std::vector<std::string> parts;
  for (const ParameterSpec& spec : variant.parameters) {
    const auto& given = choice.parameters.values();
    const auto at = given.find(spec.name);
    const ParameterValue& value = at == given.end() ? defaults.values().at(spec.name) : at->second;
    // Numbers at their default would only be noise.
    if (spec.type == ParameterType::text || value != defaults.values().at(spec.name)) {
      parts.push_back(spec.name + ("=" + describe(spec, value)));
    }
  }
  return carried_name({variant.name, {}, 0, {}, choice.transport}) +
         (parts.empty() ? "" : "(" + join(parts, ",") + ")");
}

VariantInfo require_variant(const std::string& name) {
  std::vector<std::string> names;
  for (VariantInfo& variant : allreduce_variants()) {
    if (variant.name == dashed(name)) return variant;
    names.push_back(variant.name);
  }
  throw UserError("unknown allreduce '" + name + "'", suggestion(name, names));
}

CarriedVariant require_carried(const std::string& name) {
  const std::size_t at = name.find('@');
  CarriedVariant carried{require_variant(name.substr(0, at)), Transport::messages};
  if (at == std::string::npos) return carried;
  if (carried.variant.is_library) {
    throw UserError("'" + name + "': the library chooses what carries it", "without @: " + carried.variant.name);
  }
  const std::string wanted = name.substr(at + 1);
  std::vector<std::string> names;
  for (const Transport transport : transports) {
    carried.transport = transport;
    if (wanted == name_of(transport)) return carried;
    names.emplace_back(name_of(transport));
  }
  throw UserError("unknown transport '" + wanted + "'", suggestion(wanted, names));
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

Verdict supports(const AllreduceChoice& choice, transport::ProcessGroup& group) {
  Verdict verdict = supports(choice, group.size());
  if (!verdict) return verdict;
  const Library* library = find_entry(libraries(), require_variant(choice.algorithm).name);
  if (library != nullptr) return library->supports(completed(library->parameters, choice.parameters), group);
  switch (choice.transport) {
    case Transport::messages: return Verdict::yes();
    case Transport::shared_memory: return group.shares_memory();
    case Transport::mixed: return has_two_levels(choice.algorithm, group);
  }
  return Verdict::yes();
}

struct Allreduce::Impl {
  transport::ProcessGroup& group;
  AllreduceChoice choice;
  std::unique_ptr<LibraryAllreduce> library;  // or
  std::optional<schedule::Schedule> schedule;
  int next_tag = 0;
};

Allreduce::Allreduce(transport::ProcessGroup& group, AllreduceChoice choice)
    : impl_(new Impl{group, std::move(choice), nullptr, std::nullopt}) {
  impl_->choice.algorithm = require_variant(impl_->choice.algorithm).name;
  const Library* library = find_entry(libraries(), impl_->choice.algorithm);
  if (const Verdict verdict = supports(impl_->choice, group); !verdict) {
    throw UserError(impl_->choice.algorithm + ": " + verdict.reason, "ringmaster list collectives names the others");
  }
  if (library == nullptr) {
    impl_->schedule = schedule::build(impl_->choice.algorithm, context_of(impl_->choice, group.size()));
    return;
  }
  impl_->library = library->make(completed(library->parameters, impl_->choice.parameters), group);
}

Allreduce::~Allreduce() = default;
Allreduce::Allreduce(Allreduce&&) noexcept = default;
Allreduce& Allreduce::operator=(Allreduce&&) noexcept = default;

std::unique_ptr<Operation> Allreduce::prepare(const Buffers& buffers) {
  if (impl_->library != nullptr) return impl_->library->prepare(buffers);
  const int needed = tags_needed(*impl_->schedule);
  // Tags wrap around: operations that far apart are never in flight together.
  if (impl_->next_tag > impl_->group.highest_tag() - needed) impl_->next_tag = 0;
  const ExecutorOptions options{impl_->choice.segment_bytes, impl_->next_tag};
  impl_->next_tag += needed;
  const auto make = shares_memory(impl_->choice.transport) ? make_shared_operation : make_schedule_operation;
  return make(impl_->group, *impl_->schedule, buffers, options);
}

const AllreduceChoice& Allreduce::choice() const { return impl_->choice; }

std::string Allreduce::what_runs(std::int64_t bytes, DataType type) const {
  if (impl_->library != nullptr) return impl_->library->what_runs(bytes / size_of(type), type);
  if (impl_->choice.transport == Transport::shared_memory) {
    return fmt::format("{} (ringmaster schedule, on shared memory, segment {})", impl_->schedule->name,
                       impl_->choice.segment_bytes > 0 ? format_size(impl_->choice.segment_bytes) : "auto");
  }
  std::int64_t segment = impl_->choice.segment_bytes;
  for (const schedule::Lane& lane : impl_->schedule->lanes) {
    if (impl_->choice.segment_bytes == 0) segment = std::max(segment, default_segment_bytes(lane.chunks));
  }
  const bool mixed = impl_->choice.transport == Transport::mixed;
  return fmt::format("{} (ringmaster schedule, {}point-to-point over {}{}, segment {})", impl_->schedule->name,
                     mixed ? "on shared memory inside nodes, " : "", impl_->group.transport_name(),
                     mixed ? " between nodes" : "", format_size(segment));
}

std::string Allreduce::identity() const {
  if (impl_->library != nullptr) return "library " + impl_->library->identity();
  return fmt::format("{} segment {}\n{}", name_of(impl_->choice.transport), impl_->choice.segment_bytes,
                     canonical_form(*impl_->schedule));
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
