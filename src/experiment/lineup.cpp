// SPDX-License-Identifier: Apache-2.0
#include "experiment/lineup.hpp"

#include <fmt/core.h>

#include <map>

#include "collective/allreduce.hpp"

namespace ringmaster::experiment {
namespace {

int ranks_of(const PlannedPoint& planned, int world) { return planned.setup.ranks > 0 ? planned.setup.ranks : world; }

std::string reason_to_skip(const PlannedPoint& planned, int world) {
  const int ranks = ranks_of(planned, world);
  if (ranks > world) return fmt::format("needs {} ranks, this job has {}", ranks, world);
  const bool slow_link = planned.setup.link.latency_s > 0 || planned.setup.link.bytes_per_s > 0;
  if (!slow_link || planned.role == "twin" || planned.role == "single") return {};
  const collective::AllreduceChoice& choice = planned.setup.train.allreduce;
  if (collective::require_variant(choice.algorithm).is_library) {
    return "the library's own messages cannot be slowed by a planted link";
  }
  return choice.transport == collective::Transport::messages ? "" : "a planted link slows messages, not memory";
}

/// Everything but the algorithm: points that agree in it may be the same thing.
std::string surroundings(const PlannedPoint& planned) {
  std::string text = planned.workload + '\n';
  for (const auto& [key, value] : planned.settings) {
    if (key.rfind("communication.collective", 0) != 0) text += key + '=' + value + '\n';
  }
  return text;
}

/// What the point's own group says of its allreduce.
struct Answer {
  std::string refusal;
  std::string identity;
};

/// Collective over `world`; the first rank is in every group and tells the others.
Answer ask(transport::ProcessGroup& world, const PlannedPoint& planned) {
  const auto group = world.split(world.rank() < ranks_of(planned, world.size()) ? 0 : -1, world.rank());
  Answer answer;
  if (group) {
    const Verdict verdict = collective::supports(planned.setup.train.allreduce, *group);
    answer.refusal = verdict.reason;
    if (verdict) answer.identity = collective::Allreduce(*group, planned.setup.train.allreduce).identity();
  }
  answer.refusal = transport::broadcast_text(world, answer.refusal);
  answer.identity = transport::broadcast_text(world, answer.identity);
  return answer;
}

}  // namespace

Lineup line_up(transport::ProcessGroup& world, const Config& config) {
  Lineup lineup;
  lineup.planned = config.points;
  std::map<std::string, int> seen;
  for (std::size_t i = 0; i < config.points.size(); ++i) {
    const PlannedPoint& planned = config.points[i];
    result::Point point;
    point.id = static_cast<int>(i);
    point.name = planned.name;
    point.workload = planned.workload;
    point.role = planned.role;
    point.variant = planned.role == "twin"         ? "no communication"
                    : planned.role == "single"     ? "one rank"
                    : planned.role == "unrecorded" ? "recorder off"
                                                   : collective::carried_name(planned.setup.train.allreduce);
    point.settings = planned.settings;
    point.ranks = ranks_of(planned, world.size());
    point.skipped = reason_to_skip(planned, world.size());
    const bool comparable = planned.role == "variant" || planned.role == "baseline";
    const bool reduces = planned.role != "twin" && planned.role != "single";
    Answer answer;
    if (point.skipped.empty() && reduces) {
      answer = ask(world, planned);
      point.skipped = answer.refusal;
    }
    bool runs = point.skipped.empty();
    if (runs && comparable && point.ranks > 1) {
      const auto [at, fresh] = seen.try_emplace(surroundings(planned) + answer.identity, point.id);
      if (!fresh) {
        result::Point& first = lineup.points[static_cast<std::size_t>(at->second)];
        first.same_as.push_back(point.variant);
        point.skipped = fmt::format("the same schedule as {} at {} ranks", first.name, point.ranks);
        runs = false;
      }
    }
    if (runs) lineup.running.push_back(point.id);
    lineup.points.push_back(std::move(point));
  }
  return lineup;
}

}  // namespace ringmaster::experiment
