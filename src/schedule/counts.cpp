// SPDX-License-Identifier: Apache-2.0
// Costs, the canonical form and the drawing of a schedule.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/text.hpp"
#include "schedule/verifier.hpp"

namespace ringmaster::schedule {
namespace {

std::string ranges_text(const Region& region, std::int64_t chunks) {
  if (chunks == 1) return "all";
  std::vector<std::string> parts;
  for (const ChunkRange& range : region.ranges) {
    parts.push_back(range.count == 1 ? std::to_string(range.first)
                                     : fmt::format("{}-{}", range.first, range.first + range.count - 1));
  }
  return join(parts, ",");
}

std::string transfer_text(const Transfer& transfer, std::int64_t chunks) {
  switch (transfer.kind) {
    case TransferKind::send: return fmt::format("{} > r{}", ranges_text(transfer.from, chunks), transfer.peer);
    case TransferKind::receive: return fmt::format("{} < r{}", ranges_text(transfer.to, chunks), transfer.peer);
    case TransferKind::receive_reduce: return fmt::format("{} + r{}", ranges_text(transfer.to, chunks), transfer.peer);
    case TransferKind::copy: return fmt::format("{} copied", ranges_text(transfer.to, chunks));
    case TransferKind::reduce: return fmt::format("{} added", ranges_text(transfer.to, chunks));
  }
  return "?";
}

/// One round as columns, a rank each.
std::string draw_round(const std::vector<Program>& programs, std::size_t round, std::int64_t chunks) {
  std::vector<std::vector<std::string>> columns;
  std::size_t height = 0;
  std::size_t width = 6;
  for (const Program& program : programs) {
    std::vector<std::string> column;
    if (round < program.size()) {
      for (const Transfer& transfer : program[round].transfers) column.push_back(transfer_text(transfer, chunks));
    }
    for (const std::string& text : column) width = std::max(width, text.size());
    height = std::max(height, column.size());
    columns.push_back(std::move(column));
  }
  std::string text;
  for (std::size_t line = 0; line < height; ++line) {
    std::string row = "   ";
    for (const auto& column : columns)
      row += fmt::format(" {:{}}", line < column.size() ? column[line] : "", width + 1);
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

std::vector<Program> programs_of(const Schedule& schedule, const Lane& lane) {
  std::vector<Program> programs;
  for (Rank rank = 0; rank < schedule.ranks; ++rank) programs.push_back(lane.program(rank));
  return programs;
}

/// Chunks get numbers in the order in which the programs first name them: the names that a builder chose are no
/// difference.
class ChunkNames {
 public:
  std::string of(const Region& region) {
    std::vector<std::int64_t> names;
    for (const std::int64_t chunk : region.chunk_list()) {
      names.push_back(names_.try_emplace(chunk, static_cast<std::int64_t>(names_.size())).first->second);
    }
    std::string text = region.space == Space::slot    ? fmt::format("s{}", region.slot)
                       : region.space == Space::input ? "i"
                                                      : "o";
    for (const std::int64_t name : names) text += fmt::format(".{}", name);
    return text;
  }

 private:
  std::map<std::int64_t, std::int64_t> names_;
};

std::string canonical_transfer(const Transfer& transfer, ChunkNames& names) {
  static constexpr const char* kinds[] = {"S", "R", "A", "C", "L"};
  const bool reads = transfer.kind != TransferKind::receive;
  const bool writes = transfer.kind != TransferKind::send;
  return fmt::format("{}{}w{}[{}][{}]", kinds[static_cast<int>(transfer.kind)], transfer.peer,
                     static_cast<int>(transfer.wire), reads ? names.of(transfer.from) : "",
                     writes ? names.of(transfer.to) : "");
}

}  // namespace

double Counts::busiest_sent() const { return sent.empty() ? 0 : *std::max_element(sent.begin(), sent.end()); }
double Counts::total_sent() const { return std::accumulate(sent.begin(), sent.end(), 0.0); }

Counts count(const Schedule& schedule) {
  const auto ranks = static_cast<std::size_t>(schedule.ranks);
  Counts counts;
  counts.messages_sent.resize(ranks);
  counts.sent.resize(ranks);
  counts.received.resize(ranks);
  counts.link.assign(ranks, std::vector<double>(ranks));
  std::int64_t weights = 0;
  for (const Lane& lane : schedule.lanes) weights += lane.weight;
  for (const Lane& lane : schedule.lanes) {
    counts.rounds = std::max(counts.rounds, lane.rounds);
    const double share = static_cast<double>(lane.weight) / static_cast<double>(weights * lane.chunks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      for (const Round& round : lane.program(static_cast<Rank>(rank))) {
        for (const Transfer& transfer : round.transfers) {
          if (transfer.kind != TransferKind::send) continue;
          const double vectors = share * static_cast<double>(transfer.from.chunk_count());
          const auto peer = static_cast<std::size_t>(transfer.peer);
          ++counts.messages_sent[rank];
          counts.sent[rank] += vectors;
          counts.received[peer] += vectors;
          counts.link[rank][peer] += vectors;
        }
      }
    }
  }
  return counts;
}

std::string canonical_form(const Schedule& schedule) {
  std::string text = fmt::format("{} {}", name_of(schedule.collective), schedule.ranks);
  for (const Lane& lane : schedule.lanes) {
    text += fmt::format("\nlane w{} c{}", lane.weight, lane.chunks);
    ChunkNames names;
    const std::vector<Program> programs = programs_of(schedule, lane);
    for (int round = 0; round < lane.rounds; ++round) {
      std::string line;
      for (std::size_t rank = 0; rank < programs.size(); ++rank) {
        if (round >= static_cast<int>(programs[rank].size())) continue;
        std::vector<Transfer> transfers = programs[rank][static_cast<std::size_t>(round)].transfers;
        std::stable_sort(transfers.begin(), transfers.end(), [](const Transfer& a, const Transfer& b) {
          return std::pair(a.kind, a.peer) < std::pair(b.kind, b.peer);
        });
        for (const Transfer& transfer : transfers)
          line += fmt::format(" {}{}", rank, canonical_transfer(transfer, names));
      }
      if (!line.empty()) text += "\n" + line;  // a round in which nobody does anything is none
    }
  }
  return text;
}

std::string draw(const Schedule& schedule) {
  std::string text = fmt::format("{}: {} of {} ranks\n", schedule.name, name_of(schedule.collective), schedule.ranks);
  for (std::size_t i = 0; i < schedule.lanes.size(); ++i) {
    const Lane& lane = schedule.lanes[i];
    if (schedule.lanes.size() > 1) text += fmt::format("lane {}\n", i);
    text += fmt::format("vector in {} chunk{}; > sends to, + adds from, < receives from\n", lane.chunks,
                        lane.chunks == 1 ? "" : "s");
    const std::vector<Program> programs = programs_of(schedule, lane);
    for (int round = 0; round < lane.rounds; ++round) {
      text += fmt::format("round {}\n", round);
      text += draw_round(programs, static_cast<std::size_t>(round), lane.chunks);
    }
  }
  text.pop_back();
  return text;
}

}  // namespace ringmaster::schedule
