// SPDX-License-Identifier: Apache-2.0
#include "collective/plan.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/error.hpp"

namespace ringmaster::collective {
namespace {

using schedule::Rank;
using schedule::Region;
using schedule::Space;
using schedule::Transfer;
using schedule::TransferKind;

constexpr std::int64_t border_bytes = 64;

/// One contribution to a chunk: who, and where its elements are.
struct Contribution {
  Rank source = 0;
  Piece piece;
};

/// A destination and what is added there.
struct Gathered {
  Piece destination;
  std::vector<Contribution> contributions;
  bool completes = false;
};

class Compiler {
 public:
  Compiler(const schedule::Lane& lane, Rank rank, std::int64_t elements, DataType type, Aliasing aliasing,
           const schedule::Completion& completion)
      : lane_(lane), rank_(rank), aliasing_(aliasing), completion_(completion), quantum_(border_bytes / size_of(type)) {
    plan_.elements = elements;
    plan_.slots = lane.slots;
  }

  Plan run();

 private:
  void round(const std::vector<Transfer>& transfers);
  void plan_sends(const std::vector<Transfer>& transfers);
  void plan_receives(const std::vector<Transfer>& transfers);
  void plan_local(const std::vector<Transfer>& transfers);
  void plan_sums();
  Piece piece_of(const Region& region, std::int64_t chunk) const;
  std::int64_t elements_of(const Region& region) const;
  std::vector<Piece> pieces_of(const Region& region) const;
  Piece bounce(std::int64_t elements);
  bool overlaps(const Piece& a, const Piece& b) const;
  bool is_sent(const Piece& piece) const;
  bool is_touched(const Piece& piece) const;
  bool reads_a_sum(const Gathered& gathered, const std::vector<Gathered>& earlier) const;
  Gathered& gathered(const Region& to, std::int64_t chunk, const Piece& destination);
  void add_sum(const Piece& destination, const std::vector<Piece>& sources);

  const schedule::Lane& lane_;
  Rank rank_;
  Aliasing aliasing_;
  const schedule::Completion& completion_;
  std::int64_t quantum_;
  Plan plan_;
  PlannedRound now_;
  std::int64_t bounce_used_ = 0;
  std::vector<std::int64_t> bounce_by_round_;
  std::vector<Piece> sent_;                                         // read by sends of this round
  std::vector<Piece> operands_;                                     // read by sums of this round, packing included
  std::map<std::tuple<Place, int, std::int64_t>, Gathered> added_;  // by destination
};

Piece Compiler::piece_of(const Region& region, std::int64_t chunk) const {
  const schedule::ElementRange range = schedule::chunk_elements(plan_.elements, lane_.chunks, chunk, quantum_);
  const Place place = region.space == Space::input    ? Place::input
                      : region.space == Space::output ? Place::output
                                                      : Place::slot;
  return {place, region.slot, range.begin, range.size()};
}

/// Contiguous pieces of a region, in wire order; neighbouring ranges are joined, empty ones left out.
std::vector<Piece> Compiler::pieces_of(const Region& region) const {
  std::vector<Piece> pieces;
  for (const schedule::ChunkRange& range : region.ranges) {
    if (range.count == 0) continue;
    Piece piece = piece_of(region, range.first);
    const Piece last = piece_of(region, range.first + range.count - 1);
    piece.elements = last.begin + last.elements - piece.begin;
    if (piece.elements == 0) continue;
    if (!pieces.empty() && pieces.back().begin + pieces.back().elements == piece.begin) {
      pieces.back().elements += piece.elements;
    } else {
      pieces.push_back(piece);
    }
  }
  return pieces;
}

std::int64_t Compiler::elements_of(const Region& region) const {
  std::int64_t elements = 0;
  for (const Piece& piece : pieces_of(region)) elements += piece.elements;
  return elements;
}

Piece Compiler::bounce(std::int64_t elements) {
  const Piece piece{Place::bounce, 0, bounce_used_, elements};
  bounce_used_ += (elements + quantum_ - 1) / quantum_ * quantum_;
  return piece;
}

bool Compiler::overlaps(const Piece& a, const Piece& b) const {
  const auto memory = [&](const Piece& p) {
    const bool alias = aliasing_ == Aliasing::in_place && p.place == Place::input;
    return std::pair(alias ? Place::output : p.place, p.slot);
  };
  return memory(a) == memory(b) && a.begin < b.begin + b.elements && b.begin < a.begin + a.elements;
}

bool Compiler::is_sent(const Piece& piece) const {
  return std::any_of(sent_.begin(), sent_.end(), [&](const Piece& p) { return overlaps(p, piece); });
}

bool Compiler::is_touched(const Piece& piece) const {
  return is_sent(piece) ||
         std::any_of(operands_.begin(), operands_.end(), [&](const Piece& p) { return overlaps(p, piece); });
}

void Compiler::add_sum(const Piece& destination, const std::vector<Piece>& sources) {
  PlannedSum sum;
  sum.destination = destination;
  sum.first_source = static_cast<std::int32_t>(plan_.sources.size());
  sum.source_count = static_cast<std::int32_t>(sources.size());
  sum.time = is_sent(destination) ? SumTime::after_sends : SumTime::after_receives;
  plan_.sources.insert(plan_.sources.end(), sources.begin(), sources.end());
  plan_.sums.push_back(sum);
}

// What lies in several pieces is packed before it is sent.
void Compiler::plan_sends(const std::vector<Transfer>& transfers) {
  for (const Transfer& transfer : transfers) {
    if (transfer.kind != TransferKind::send) continue;
    const std::vector<Piece> pieces = pieces_of(transfer.from);
    if (pieces.empty()) continue;
    Piece source = pieces.front();
    if (pieces.size() > 1) {
      source = bounce(elements_of(transfer.from));
      std::int64_t at = source.begin;
      for (const Piece& piece : pieces) {
        add_sum({Place::bounce, 0, at, piece.elements}, {piece});
        operands_.push_back(piece);  // receives are posted before the packing
        at += piece.elements;
        ++now_.pack_count;
      }
    } else {
      sent_.push_back(source);
    }
    plan_.sends.push_back({transfer.peer, source});
    ++now_.send_count;
  }
}

Gathered& Compiler::gathered(const Region& to, std::int64_t chunk, const Piece& destination) {
  Gathered& all = added_[{destination.place, destination.slot, destination.begin}];
  all.destination = destination;
  all.completes = completion_(static_cast<int>(plan_.rounds.size()), to, chunk);
  return all;
}

void Compiler::plan_receives(const std::vector<Transfer>& transfers) {
  for (const Transfer& transfer : transfers) {
    if (transfer.kind != TransferKind::receive && transfer.kind != TransferKind::receive_reduce) continue;
    const std::vector<Piece> pieces = pieces_of(transfer.to);
    if (pieces.empty()) continue;
    const bool reduces = transfer.kind == TransferKind::receive_reduce;
    const bool direct = !reduces && pieces.size() == 1 && !is_touched(pieces.front());
    const Piece target = direct ? pieces.front() : bounce(elements_of(transfer.to));
    plan_.receives.push_back({transfer.peer, target});
    ++now_.receive_count;
    if (direct) continue;
    std::int64_t at = target.begin;
    const std::vector<std::int64_t> owns = transfer.from.chunk_list();
    const std::vector<std::int64_t> targets = transfer.to.chunk_list();
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const Piece destination = piece_of(transfer.to, targets[i]);
      if (destination.elements == 0) continue;
      auto& contributions = gathered(transfer.to, targets[i], destination).contributions;
      if (reduces && contributions.empty()) contributions.push_back({rank_, piece_of(transfer.from, owns[i])});
      contributions.push_back({transfer.peer, {Place::bounce, 0, at, destination.elements}});
      at += destination.elements;
    }
  }
}

void Compiler::plan_local(const std::vector<Transfer>& transfers) {
  for (const Transfer& transfer : transfers) {
    if (transfer.kind != TransferKind::copy && transfer.kind != TransferKind::reduce) continue;
    const std::vector<std::int64_t> owns = transfer.from.chunk_list();
    const std::vector<std::int64_t> targets = transfer.to.chunk_list();
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const Piece destination = piece_of(transfer.to, targets[i]);
      const Piece source = piece_of(transfer.from, owns[i]);
      if (destination.elements == 0 || overlaps(destination, source)) continue;
      auto& contributions = gathered(transfer.to, targets[i], destination).contributions;
      if (transfer.kind == TransferKind::reduce && contributions.empty()) contributions.push_back({rank_, destination});
      contributions.push_back({transfer.kind == TransferKind::reduce ? transfer.peer : rank_, source});
    }
  }
}

/// Whether `next` goes on where `before` ends, in the destination and in every contribution of the same ranks.
bool continues(const Gathered& before, const Gathered& next) {
  const auto follows = [&](const Piece& a, const Piece& b) {
    return a.place == b.place && a.slot == b.slot && a.begin + before.destination.elements == b.begin;
  };
  if (before.completes != next.completes || !follows(before.destination, next.destination)) return false;
  if (before.contributions.size() != next.contributions.size()) return false;
  for (std::size_t i = 0; i < next.contributions.size(); ++i) {
    const Contribution& a = before.contributions[i];
    const Contribution& b = next.contributions[i];
    if (a.source != b.source || !follows(a.piece, b.piece)) return false;
  }
  return true;
}

// Sums of a round run one after the other, but all of them read the state before the round.
bool Compiler::reads_a_sum(const Gathered& gathered, const std::vector<Gathered>& earlier) const {
  return std::any_of(earlier.begin(), earlier.end(), [&](const Gathered& sum) {
    return std::any_of(gathered.contributions.begin(), gathered.contributions.end(),
                       [&](const Contribution& c) { return overlaps(sum.destination, c.piece); });
  });
}

// Chunks whose contributions come from the same ranks and lie side by side are one sum.
void Compiler::plan_sums() {
  std::vector<Gathered> runs;
  for (auto& entry : added_) {
    Gathered next = std::move(entry.second);
    std::stable_sort(next.contributions.begin(), next.contributions.end(),
                     [&](const Contribution& a, const Contribution& b) {
                       return lane_.place_of(a.source) < lane_.place_of(b.source);
                     });
    RINGMASTER_ASSERT(!reads_a_sum(next, runs), "a sum reads what another sum of its round writes: split the round");
    if (!runs.empty() && continues(runs.back(), next)) {
      runs.back().destination.elements += next.destination.elements;
    } else {
      runs.push_back(std::move(next));
    }
  }
  for (const Gathered& run : runs) {
    std::vector<Piece> sources;
    for (const Contribution& contribution : run.contributions) {
      sources.push_back(contribution.piece);
      sources.back().elements = run.destination.elements;
    }
    add_sum(run.destination, sources);
    plan_.sums.back().completes = run.completes;
    ++now_.sum_count;
  }
}

void Compiler::round(const std::vector<Transfer>& transfers) {
  now_ = {};
  now_.first_receive = static_cast<std::int32_t>(plan_.receives.size());
  now_.first_send = static_cast<std::int32_t>(plan_.sends.size());
  now_.first_pack = static_cast<std::int32_t>(plan_.sums.size());
  sent_.clear();
  operands_.clear();
  added_.clear();
  bounce_used_ = 0;
  for (const Transfer& transfer : transfers) {
    const bool reads = transfer.kind != TransferKind::send && transfer.kind != TransferKind::receive;
    if (!reads) continue;
    for (const Piece& piece : pieces_of(transfer.from)) operands_.push_back(piece);
  }
  plan_sends(transfers);
  plan_receives(transfers);
  plan_local(transfers);
  now_.first_sum = static_cast<std::int32_t>(plan_.sums.size());
  plan_sums();
  now_.receives_early = now_.receive_count > 0;
  for (std::int32_t i = 0; i < now_.receive_count; ++i) {
    const PlannedMessage& message = plan_.receives[static_cast<std::size_t>(now_.first_receive + i)];
    now_.receives_early = now_.receives_early && message.piece.place == Place::bounce;
  }
  plan_.most_receives = std::max(plan_.most_receives, now_.receive_count);
  plan_.most_sends = std::max(plan_.most_sends, now_.send_count);
  bounce_by_round_.push_back(bounce_used_);
  plan_.rounds.push_back(now_);
}

// Rounds take turns in two halves of the bounce buffer: a receive may be posted while the round before still adds.
void place_in_halves(Plan& plan, std::int64_t half) {
  const auto shift = [half](Piece& piece, std::size_t round) {
    if (piece.place == Place::bounce && round % 2 == 1) piece.begin += half;
  };
  for (std::size_t i = 0; i < plan.rounds.size(); ++i) {
    const PlannedRound& round = plan.rounds[i];
    for (std::int32_t k = 0; k < round.receive_count; ++k) {
      shift(plan.receives[static_cast<std::size_t>(round.first_receive + k)].piece, i);
    }
    for (std::int32_t k = 0; k < round.send_count; ++k) {
      shift(plan.sends[static_cast<std::size_t>(round.first_send + k)].piece, i);
    }
    for (std::int32_t k = round.first_pack; k < round.first_sum + round.sum_count; ++k) {
      PlannedSum& sum = plan.sums[static_cast<std::size_t>(k)];
      shift(sum.destination, i);
      for (std::int32_t s = 0; s < sum.source_count; ++s) {
        shift(plan.sources[static_cast<std::size_t>(sum.first_source + s)], i);
      }
    }
  }
  plan.bounce_elements = 2 * half;
}

Plan Compiler::run() {
  for (const schedule::Round& next : lane_.program(rank_)) round(next.transfers);
  std::int64_t half = 0;
  for (const std::int64_t used : bounce_by_round_) half = std::max(half, used);
  place_in_halves(plan_, half);
  return std::move(plan_);
}

}  // namespace

Plan compile(const schedule::Lane& lane, Rank rank, std::int64_t elements, DataType type, Aliasing aliasing,
             const schedule::Completion& completion) {
  return Compiler(lane, rank, elements, type, aliasing, completion).run();
}

}  // namespace ringmaster::collective
