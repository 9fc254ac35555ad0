// SPDX-License-Identifier: Apache-2.0
// One of Open MPI's own allreduce algorithms, whatever its table would choose: a communicator is duplicated while the
// algorithm is forced. What was forced before comes back at once, so other communicators keep their decisions.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "collective/libraries/mpi_call.hpp"
#include "collective/libraries/open_mpi_rules.hpp"
#include "transport/mpi_tool.hpp"

namespace ringmaster::collective {
namespace {

using transport::ToolSession;

constexpr const char* algorithm_variable = "coll_tuned_allreduce_algorithm";
constexpr const char* segment_variable = "coll_tuned_allreduce_algorithm_segmentsize";
constexpr const char* switch_variable = "coll_tuned_use_dynamic_rules";
constexpr const char* rules_variable = "coll_tuned_dynamic_rules_filename";
constexpr const char* segmented = "segmented-ring";
constexpr double longest_segment = 1 << 30;

const std::array<ParameterSpec, 2> specs{
    {{"id",
      ParameterType::text,
      "",
      "ring",
      0,
      0,
      "the algorithm, as Open MPI names it",
      {"basic-linear", "nonoverlapping", "recursive-doubling", "ring", segmented, "rabenseifner"}},
     {"segment", ParameterType::size, "bytes", "0", 0, longest_segment, "of segmented-ring; 0 runs ring instead"}}};

detail::ForcedAlgorithm forced_by(const Parameters& parameters) {
  return {parameters.text("id"), parameters.integer("segment")};
}

/// Open MPI's number of the algorithm.
std::optional<int> number_of(std::string name) {
  const ToolSession& tool = transport::tool_session();
  const std::optional<transport::ControlInfo> info = tool.find(algorithm_variable);
  if (!info) return std::nullopt;
  std::replace(name.begin(), name.end(), '-', '_');
  return tool.value_of(*info, name);
}

std::string value(const char* variable) {
  const ToolSession& tool = transport::tool_session();
  const std::optional<transport::ControlInfo> info = tool.find(variable);
  return info ? tool.text(*info) : std::string();
}

Verdict supports(const Parameters& parameters, transport::ProcessGroup& group) {
  const detail::ForcedAlgorithm forced = forced_by(parameters);
  if (forced.segment_bytes > 0 && forced.name != segmented) {
    return Verdict::no(forced.name + " takes no segment; segmented-ring does");
  }
  if (Verdict verdict = detail::has_open_mpi(group); !verdict) return verdict;
  const ToolSession& tool = transport::tool_session();
  if (!tool.find(algorithm_variable) || !tool.find(segment_variable)) {
    return Verdict::no("Open MPI runs without coll/tuned, whose algorithms these are");
  }
  const std::string on = value(switch_variable);
  if (on != "true" && on != "1") {
    return Verdict::no(
        "coll_tuned_use_dynamic_rules is off, by your own setting or beside your own OMPI_MCA_coll_tuned_*");
  }
  if (!value(rules_variable).empty()) {
    return Verdict::no("your rules file (coll_tuned_dynamic_rules_filename) goes before a forced algorithm");
  }
  if (!number_of(forced.name)) return Verdict::no(detail::library_name() + " has no " + forced.name);
  return Verdict::yes();
}

detail::Communicator forced_communicator(const detail::ForcedAlgorithm& forced, const transport::ProcessGroup& group) {
  const transport::ForcedValue algorithm(algorithm_variable, number_of(forced.name).value_or(0));
  const transport::ForcedValue segment(segment_variable, static_cast<int>(forced.segment_bytes));
  return detail::duplicate_preferring("tuned", group);
}

class ForcedAllreduce final : public LibraryAllreduce {
 public:
  ForcedAllreduce(detail::ForcedAlgorithm forced, transport::ProcessGroup& group)
      : forced_(std::move(forced)), ranks_(group.size()), comm_(forced_communicator(forced_, group)) {}

  std::unique_ptr<Operation> prepare(const Buffers& buffers) override {
    return detail::make_blocking_allreduce(comm_, buffers);
  }
  std::string what_runs(std::int64_t elements, DataType type) const override {
    const detail::AlgorithmRan ran = detail::algorithm_that_runs(forced_, elements, size_of(type), ranks_);
    std::string text = forced_.name;
    if (!ran.because.empty()) text += fmt::format(" that became {} ({})", ran.name, ran.because);
    if (ran.name == segmented) text += " in segments of " + format_size(forced_.segment_bytes);
    return fmt::format("MPI_Allreduce as {} ({})", text, detail::carried_by(type));
  }
  std::string identity() const override {
    // Without a segment it is a ring at every size.
    if (forced_.name == segmented && forced_.segment_bytes < 1) return "MPI_Allreduce as ring";
    return fmt::format("MPI_Allreduce as {} {}", forced_.name, forced_.segment_bytes);
  }

 private:
  detail::ForcedAlgorithm forced_;
  int ranks_;
  detail::Communicator comm_;
};

std::vector<Parameters> shown() {
  std::vector<Parameters> all;
  for (const std::string& name : specs[0].choices) {
    for (const std::int64_t segment : {std::int64_t{64} << 10, std::int64_t{256} << 10, std::int64_t{1} << 20}) {
      Parameters parameters = default_parameters(specs);
      parameters.set("id", name);
      if (name == segmented) parameters.set("segment", segment);
      all.push_back(std::move(parameters));
      if (name != segmented) break;
    }
  }
  return all;
}

}  // namespace

const Library& open_mpi_algorithm_library() {
  static const Library library{
      "library-algorithm",
      "one of Open MPI's own algorithms, forced on MPI_Allreduce",
      specs,
      LibraryRole::variant,
      supports,
      [](const Parameters& parameters, transport::ProcessGroup& group) -> std::unique_ptr<LibraryAllreduce> {
        return std::make_unique<ForcedAllreduce>(forced_by(parameters), group);
      },
      shown};
  return library;
}

}  // namespace ringmaster::collective
