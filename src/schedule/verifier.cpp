// SPDX-License-Identifier: Apache-2.0
#include "schedule/verifier.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/random.hpp"

namespace ringmaster::schedule {
namespace {

using Expression = std::int32_t;
constexpr Expression undefined = -1;

/// Hash-consed expressions: equal numbers mean equal bits. Addition commutes (IEEE 754) but does not associate.
class Expressions {
 public:
  explicit Expressions(int ranks) : words_(static_cast<std::size_t>(ranks + 63) / 64) {}

  Expression leaf(Rank rank, std::int64_t chunk) {
    const Expression made = intern({Kind::leaf, rank, static_cast<std::int32_t>(chunk)});
    bits(made)[static_cast<std::size_t>(rank) / 64] |= std::uint64_t{1} << (static_cast<unsigned>(rank) % 64U);
    chunk_[static_cast<std::size_t>(made)] = static_cast<std::int32_t>(chunk);
    return made;
  }
  Expression sum(Expression a, Expression b) {
    if (a > b) std::swap(a, b);
    const Expression made = intern({Kind::sum, a, b});
    for (std::size_t i = 0; i < words_; ++i) bits(made)[i] = bits(a)[i] | bits(b)[i];
    const bool same_chunk = chunk_of(a) == chunk_of(b);
    chunk_[static_cast<std::size_t>(made)] = same_chunk ? chunk_of(a) : undefined;
    return made;
  }
  /// What a receiver decodes from an encoded message.
  Expression decoded(Expression a) {
    const Expression made = intern({Kind::decoded, a, 0});
    std::copy_n(bits(a), words_, bits(made));
    chunk_[static_cast<std::size_t>(made)] = chunk_of(a);
    return made;
  }
  bool is_decoded(Expression a) const { return nodes_[static_cast<std::size_t>(a)].kind == Kind::decoded; }
  bool share_a_rank(Expression a, Expression b) const {
    for (std::size_t i = 0; i < words_; ++i) {
      if ((bits(a)[i] & bits(b)[i]) != 0) return true;
    }
    return false;
  }
  bool holds(Expression a, Rank rank) const {
    return ((bits(a)[static_cast<std::size_t>(rank) / 64] >> (static_cast<unsigned>(rank) % 64U)) & 1U) != 0;
  }
  /// The chunk whose elements it combines; undefined if it mixes several.
  std::int32_t chunk_of(Expression a) const { return chunk_[static_cast<std::size_t>(a)]; }

 private:
  enum class Kind : std::uint8_t { leaf, sum, decoded };
  struct Node {
    Kind kind;
    std::int32_t a, b;
    bool operator==(const Node&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Node& n) const {
      const auto pair =
          (static_cast<std::uint64_t>(static_cast<std::uint32_t>(n.a)) << 32U) | static_cast<std::uint32_t>(n.b);
      return mix(static_cast<std::uint64_t>(n.kind), pair);
    }
  };

  Expression intern(const Node& node) {
    const auto [at, fresh] = index_.try_emplace(node, static_cast<Expression>(nodes_.size()));
    if (fresh) {
      nodes_.push_back(node);
      chunk_.push_back(undefined);
      bits_.resize(bits_.size() + words_);
    }
    return at->second;
  }
  std::uint64_t* bits(Expression a) { return bits_.data() + static_cast<std::size_t>(a) * words_; }
  const std::uint64_t* bits(Expression a) const { return bits_.data() + static_cast<std::size_t>(a) * words_; }

  std::size_t words_;
  std::vector<Node> nodes_;
  std::vector<std::int32_t> chunk_;
  std::vector<std::uint64_t> bits_;
  std::unordered_map<Node, Expression, Hash> index_;
};

enum class Placement : std::uint8_t { out_of_place, in_place };

/// The chunks of one rank: input, output and slots one after the other; in place input and output are the same.
class Memory {
 public:
  Memory(const Lane& lane, Placement placement)
      : chunks_(lane.chunks),
        output_(placement == Placement::in_place ? 0 : lane.chunks),
        cells_(static_cast<std::size_t>(lane.chunks * (2 + lane.slots)), undefined) {}

  std::int64_t cell(const Region& region, std::int64_t chunk) const {
    switch (region.space) {
      case Space::input: return chunk;
      case Space::output: return output_ + chunk;
      case Space::slot: return chunks_ * (2 + region.slot) + chunk;
    }
    return 0;
  }
  Expression operator[](std::int64_t cell) const { return cells_[static_cast<std::size_t>(cell)]; }
  Expression& operator[](std::int64_t cell) { return cells_[static_cast<std::size_t>(cell)]; }

 private:
  std::int64_t chunks_;
  std::int64_t output_;
  std::vector<Expression> cells_;
};

struct Message {
  std::vector<Expression> content;
  Wire wire = Wire::plain;
};

/// What a round does to one cell.
struct Write {
  int plain = 0;
  Expression plain_value = undefined;
  Expression operand = undefined;
  bool operands_differ = false;
  std::vector<std::pair<Rank, Expression>> added;  // by place in the rank order
};

class LaneProof {
 public:
  LaneProof(const Schedule& schedule, std::size_t lane, Placement placement, int limit,
            std::vector<std::string>& problems)
      : schedule_(schedule),
        lane_(schedule.lanes[lane]),
        lane_index_(lane),
        placement_(placement),
        limit_(limit),
        problems_(problems),
        expressions_(schedule.ranks) {}

  void run();

 private:
  using Key = std::tuple<Rank, Rank>;  // source, destination

  void fill();
  void send_all(int round);
  void receive_all(Rank rank, int round);
  void apply(Rank rank, int round);
  void check_result();
  Expression arriving(const Message& message, std::size_t at, Rank rank, int round);
  void add_contribution(Rank rank, const Transfer& transfer, std::int64_t own, std::int64_t target, Expression value,
                        Rank source, int round);
  bool valid(const Region& region) const;
  bool full() const { return static_cast<int>(problems_.size()) >= limit_; }
  void complain(Rank rank, int round, const std::string& what) {
    if (full()) return;
    problems_.push_back(fmt::format("lane {}, rank {}, round {}{}: {}", lane_index_, rank, round,
                                    placement_ == Placement::in_place ? ", in place" : "", what));
  }

  const Schedule& schedule_;
  const Lane& lane_;
  std::size_t lane_index_;
  Placement placement_;
  int limit_;
  std::vector<std::string>& problems_;
  Expressions expressions_;
  std::vector<Program> programs_;
  std::vector<Memory> memory_;
  std::map<Key, std::vector<Message>> in_flight_;
  std::map<Key, std::size_t> taken_;
  std::map<std::int64_t, Write> writes_;
};

bool LaneProof::valid(const Region& region) const {
  if (region.space == Space::slot && (region.slot < 0 || region.slot >= lane_.slots)) return false;
  return std::all_of(region.ranges.begin(), region.ranges.end(), [&](const ChunkRange& range) {
    return range.first >= 0 && range.count >= 0 && range.first + range.count <= lane_.chunks;
  });
}

void LaneProof::fill() {
  for (Rank rank = 0; rank < schedule_.ranks; ++rank) {
    programs_.push_back(lane_.program(rank));
    memory_.emplace_back(lane_, placement_);
    Memory& memory = memory_.back();
    if (static_cast<int>(programs_.back().size()) > lane_.rounds)
      complain(rank, lane_.rounds, "more rounds than the lane has");
    const Region input{Space::input, 0, {}};
    for (std::int64_t chunk = 0; chunk < lane_.chunks; ++chunk) {
      memory[memory.cell(input, chunk)] = expressions_.leaf(rank, chunk);
    }
  }
}

void LaneProof::send_all(int round) {
  in_flight_.clear();
  taken_.clear();
  for (Rank rank = 0; rank < schedule_.ranks; ++rank) {
    const Program& program = programs_[static_cast<std::size_t>(rank)];
    if (round >= static_cast<int>(program.size())) continue;
    const Memory& memory = memory_[static_cast<std::size_t>(rank)];
    for (const Transfer& transfer : program[static_cast<std::size_t>(round)].transfers) {
      if (transfer.kind != TransferKind::send) continue;
      if (transfer.peer < 0 || transfer.peer >= schedule_.ranks || !valid(transfer.from)) {
        complain(rank, round, "a send to a rank or from a chunk that does not exist");
        continue;
      }
      Message message;
      message.wire = transfer.wire;
      for (const std::int64_t chunk : transfer.from.chunk_list()) {
        const Expression value = memory[memory.cell(transfer.from, chunk)];
        if (value == undefined) complain(rank, round, fmt::format("sends chunk {} before it has a value", chunk));
        message.content.push_back(value);
      }
      in_flight_[{rank, transfer.peer}].push_back(std::move(message));
    }
  }
}

Expression LaneProof::arriving(const Message& message, std::size_t at, Rank rank, int round) {
  const Expression value = message.content[at];
  if (value == undefined || message.wire == Wire::plain) return value;
  if (message.wire == Wire::encoded) return expressions_.decoded(value);
  if (!expressions_.is_decoded(value)) complain(rank, round, "receives forwarded bytes that were never encoded");
  return value;
}

void LaneProof::add_contribution(Rank rank, const Transfer& transfer, std::int64_t own, std::int64_t target,
                                 Expression value, Rank source, int round) {
  const Memory& memory = memory_[static_cast<std::size_t>(rank)];
  const Expression operand = memory[memory.cell(transfer.from, own)];
  if (operand == undefined) complain(rank, round, fmt::format("adds to chunk {} before it has a value", own));
  Write& write = writes_[memory.cell(transfer.to, target)];
  if (!write.added.empty() && write.operand != operand) write.operands_differ = true;
  write.operand = operand;
  write.added.emplace_back(lane_.place_of(source), value);
}

void LaneProof::receive_all(Rank rank, int round) {
  writes_.clear();
  const Program& program = programs_[static_cast<std::size_t>(rank)];
  if (round >= static_cast<int>(program.size())) return;
  const Memory& memory = memory_[static_cast<std::size_t>(rank)];
  for (const Transfer& transfer : program[static_cast<std::size_t>(round)].transfers) {
    if (transfer.kind == TransferKind::send) continue;
    const bool local = transfer.kind == TransferKind::copy || transfer.kind == TransferKind::reduce;
    if (!valid(transfer.to) || !valid(transfer.from)) {
      complain(rank, round, "writes or reads a chunk that does not exist");
      continue;
    }
    const std::vector<std::int64_t> targets = transfer.to.chunk_list();
    const std::vector<std::int64_t> owns = transfer.from.chunk_list();
    if (transfer.kind != TransferKind::receive && owns.size() != targets.size()) {
      complain(rank, round, "source and target differ in size");
      continue;
    }
    Message message;
    if (!local) {
      auto& sent = in_flight_[{transfer.peer, rank}];
      std::size_t& next = taken_[{transfer.peer, rank}];
      if (next >= sent.size()) {
        complain(rank, round, fmt::format("receives from rank {}, which sends nothing", transfer.peer));
        continue;
      }
      message = sent[next++];
      if (message.content.size() != targets.size()) {
        complain(rank, round,
                 fmt::format("receives {} chunks where rank {} sends {}", targets.size(), transfer.peer,
                             message.content.size()));
        continue;
      }
      if (message.wire != transfer.wire) complain(rank, round, "sender and receiver disagree about the wire");
    }
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (transfer.kind == TransferKind::receive_reduce) {
        add_contribution(rank, transfer, owns[i], targets[i], arriving(message, i, rank, round), transfer.peer, round);
        continue;
      }
      const Expression value = local ? memory[memory.cell(transfer.from, owns[i])] : arriving(message, i, rank, round);
      if (value == undefined) complain(rank, round, fmt::format("copies chunk {} before it has a value", targets[i]));
      if (transfer.kind == TransferKind::reduce) {
        Transfer onto = transfer;
        onto.from = transfer.to;
        add_contribution(rank, onto, targets[i], targets[i], value, transfer.peer, round);
        continue;
      }
      Write& write = writes_[memory.cell(transfer.to, targets[i])];
      ++write.plain;
      write.plain_value = value;
    }
  }
}

// Contributions in the rank order of their sources, the own value in its place, left to right.
void LaneProof::apply(Rank rank, int round) {
  Memory& memory = memory_[static_cast<std::size_t>(rank)];
  for (auto& [cell, write] : writes_) {
    if (write.plain > 1) complain(rank, round, "conflict: a chunk is written twice");
    if (write.plain > 0 && !write.added.empty()) complain(rank, round, "conflict: a chunk is written and added to");
    if (write.operands_differ) complain(rank, round, "conflict: a chunk is added to from different own values");
    if (write.added.empty()) {
      memory[cell] = write.plain_value;
      continue;
    }
    write.added.emplace_back(lane_.place_of(rank), write.operand);
    std::sort(write.added.begin(), write.added.end());
    Expression total = undefined;
    for (const auto& [source, value] : write.added) {
      if (value == undefined) continue;
      if (total != undefined && expressions_.share_a_rank(total, value)) {
        complain(rank, round, "double add: a rank's contribution is added twice");
      }
      total = total == undefined ? value : expressions_.sum(total, value);
    }
    memory[cell] = total;
  }
}

void LaneProof::check_result() {
  const Region output{Space::output, 0, {}};
  std::vector<Expression> agreed(static_cast<std::size_t>(lane_.chunks), undefined);
  for (Rank rank = 0; rank < schedule_.ranks && !full(); ++rank) {
    const Memory& memory = memory_[static_cast<std::size_t>(rank)];
    for (std::int64_t chunk = 0; chunk < lane_.chunks; ++chunk) {
      const bool wanted = schedule_.collective == Collective::reduce           ? rank == schedule_.root
                          : schedule_.collective == Collective::reduce_scatter ? chunk % schedule_.ranks == rank
                                                                               : true;
      if (!wanted) continue;
      const Expression value = memory[memory.cell(output, chunk)];
      if (value == undefined) {
        complain(rank, lane_.rounds, fmt::format("chunk {} is lost: it never gets a value", chunk));
        continue;
      }
      if (expressions_.chunk_of(value) != chunk) {
        complain(rank, lane_.rounds, fmt::format("chunk {} ends with elements of another chunk", chunk));
      }
      for (Rank source = 0; source < schedule_.ranks; ++source) {
        const bool due = schedule_.collective == Collective::broadcast    ? source == schedule_.root
                         : schedule_.collective == Collective::all_gather ? chunk % schedule_.ranks == source
                                                                          : true;
        if (expressions_.holds(value, source) != due) {
          complain(rank, lane_.rounds, fmt::format("chunk {} {} rank {}", chunk, due ? "lacks" : "holds", source));
          break;
        }
      }
      Expression& first = agreed[static_cast<std::size_t>(chunk)];
      if (first == undefined) first = value;
      if (first != value) {
        complain(rank, lane_.rounds, fmt::format("chunk {} is summed in a different order than on other ranks", chunk));
      }
    }
  }
}

void LaneProof::run() {
  fill();
  for (int round = 0; round < lane_.rounds && !full(); ++round) {
    send_all(round);
    for (Rank rank = 0; rank < schedule_.ranks; ++rank) {
      receive_all(rank, round);
      apply(rank, round);
    }
    for (const auto& [key, sent] : in_flight_) {
      if (taken_[key] < sent.size()) {
        complain(std::get<0>(key), round, fmt::format("sends to rank {}, which receives nothing", std::get<1>(key)));
      }
    }
  }
  check_result();
}

}  // namespace

Proof verify(const Schedule& schedule, int limit) {
  Proof proof;
  for (const Placement placement : {Placement::out_of_place, Placement::in_place}) {
    for (std::size_t lane = 0; lane < schedule.lanes.size(); ++lane) {
      LaneProof(schedule, lane, placement, limit, proof.problems).run();
    }
  }
  return proof;
}

}  // namespace ringmaster::schedule
