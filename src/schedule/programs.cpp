// SPDX-License-Identifier: Apache-2.0
#include "schedule/programs.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"

namespace ringmaster::schedule {
namespace {

/// Ascending, neighbours joined.
std::vector<ChunkRange> in_order(std::vector<ChunkRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const ChunkRange& a, const ChunkRange& b) { return a.first < b.first; });
  std::vector<ChunkRange> joined;
  for (const ChunkRange& range : ranges) {
    if (!joined.empty() && joined.back().first + joined.back().count == range.first) {
      joined.back().count += range.count;
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

void map_region(Region& region, const ChunkMap& map) {
  std::vector<ChunkRange> ranges;
  for (const std::int64_t chunk : region.chunk_list()) {
    const std::vector<ChunkRange> mapped = map(chunk);
    ranges.insert(ranges.end(), mapped.begin(), mapped.end());
  }
  region.ranges = in_order(std::move(ranges));
}

bool reads_input(const Transfer& transfer) {
  return transfer.kind != TransferKind::receive && transfer.from.space == Space::input;
}

bool writes_output(const Transfer& transfer) {
  return transfer.kind != TransferKind::send && transfer.to.space == Space::output;
}

}  // namespace

std::vector<ChunkRange> ranges_of(const std::vector<std::int64_t>& chunks) {
  std::vector<ChunkRange> ranges;
  for (const std::int64_t chunk : chunks) {
    if (!ranges.empty() && ranges.back().first + ranges.back().count == chunk) {
      ++ranges.back().count;
    } else {
      ranges.push_back({chunk, 1});
    }
  }
  return ranges;
}

void map_peers(Program& program, const std::vector<Rank>& ranks) {
  for (Round& round : program) {
    for (Transfer& transfer : round.transfers) {
      if (transfer.kind != TransferKind::copy) transfer.peer = ranks[static_cast<std::size_t>(transfer.peer)];
    }
  }
}

void map_chunks(Program& program, const ChunkMap& map) {
  for (Round& round : program) {
    for (Transfer& transfer : round.transfers) {
      if (transfer.kind != TransferKind::receive) map_region(transfer.from, map);
      if (transfer.kind != TransferKind::send) map_region(transfer.to, map);
    }
  }
}

void overlay(Program& onto, const Program& other, std::size_t first_round) {
  if (onto.size() < first_round + other.size()) onto.resize(first_round + other.size());
  for (std::size_t i = 0; i < other.size(); ++i) {
    auto& transfers = onto[first_round + i].transfers;
    transfers.insert(transfers.end(), other[i].transfers.begin(), other[i].transfers.end());
  }
}

Program mirrored(const Program& reduction) {
  Program program(reduction.size());
  for (std::size_t i = 0; i < reduction.size(); ++i) {
    auto& transfers = program[reduction.size() - 1 - i].transfers;
    for (const Transfer& forward : reduction[i].transfers) {
      if (forward.kind == TransferKind::copy) continue;
      RINGMASTER_ASSERT(forward.kind != TransferKind::reduce, "a reduction with slots has no mirror image");
      Transfer back{TransferKind::send, forward.peer, forward.to, {}, forward.wire};
      if (forward.kind == TransferKind::send) {
        back = {TransferKind::receive, forward.peer, {}, forward.from, forward.wire};
        back.to.space = Space::output;
      }
      transfers.push_back(std::move(back));
    }
  }
  return program;
}

void settle(Program& program) {
  std::set<std::int64_t> written;
  for (std::size_t i = 0; i < program.size(); ++i) {
    for (Transfer& transfer : program[i].transfers) {
      if (!reads_input(transfer)) continue;
      std::vector<std::int64_t> missing;
      const std::vector<std::int64_t> chunks = transfer.from.chunk_list();
      std::copy_if(chunks.begin(), chunks.end(), std::back_inserter(missing),
                   [&](std::int64_t chunk) { return written.count(chunk) == 0; });
      if (missing.size() == chunks.size()) continue;
      transfer.from.space = Space::output;
      if (missing.empty()) continue;
      const Region rest{Space::input, 0, ranges_of(missing)};
      const Region there{Space::output, 0, rest.ranges};
      program[i - 1].transfers.push_back({TransferKind::copy, 0, rest, there, Wire::plain});
      written.insert(missing.begin(), missing.end());
    }
    for (const Transfer& transfer : program[i].transfers) {
      if (!writes_output(transfer)) continue;
      for (const std::int64_t chunk : transfer.to.chunk_list()) written.insert(chunk);
    }
  }
}

}  // namespace ringmaster::schedule
