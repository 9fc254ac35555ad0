// SPDX-License-Identifier: Apache-2.0
#include "collective/dataflow.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "base/error.hpp"

namespace ringmaster::collective {
namespace {

using schedule::Program;
using schedule::Rank;
using schedule::Region;
using schedule::Space;
using schedule::Transfer;
using schedule::TransferKind;

constexpr std::int64_t border_bytes = 64;
constexpr int none = -1;
constexpr int before_rounds = -1;
constexpr int after_rounds = std::numeric_limits<int>::max();

/// What one write left in a chunk, or what lay there at the start; or what a message brought for a sum (no cell).
struct Version {
  Rank rank = 0;
  std::int64_t cell = 0;
  int producer = none;       // action; none: there at the start
  int staged_by = none;      // action that copied it to scratch for the others
  std::vector<int> readers;  // actions
  int contributions = 1;     // ranks whose values are in it
  bool result = false;       // what the output holds at the end
  Location own;              // where its owner reads it
  Location shared;           // where others read it
};

/// A version that an action stores, where, and the version that lay there.
struct Store {
  int version = none;
  Location to;
  int replaces = none;
};

/// One sum of one chunk; or one side of a chunk's way to another node: a send has a source, a receive a store.
struct Action {
  StepKind kind = StepKind::sum;
  Rank rank = 0;
  int round = 0;
  std::int64_t elements = 0;
  std::vector<int> sources;  // versions, in the order of the sum
  std::vector<Store> stores;
  bool dropped = false;    // its store was given to the sender's sum
  int contributions = 0;   // ranks whose values come together
  bool completes = false;  // adds the last contributions
};

/// A chunk's way to another node: its two actions.
struct Crossing {
  int send = none;
  int receive = none;
  int posted = 0;   // the receive is posted at the start of this round
  int awaited = 0;  // the send is waited for at the end of this round
};

/// Crossings that follow each other in the memory of both ranks.
struct Message {
  std::size_t first = 0, end = 0;  // crossings
  std::int64_t elements = 0;
  std::int32_t at_sender = 0, at_receiver = 0;  // its number among the messages of the rank
};

/// What a rank does in a round, in this order.
enum class Phase : std::uint8_t { post_receives, post_sends, add, await_receives, add_received, await_sends };

/// An action or, of a message, the posting of it or the waiting for it. One step, or a part of one.
struct Item {
  int round = 0;
  Phase phase = Phase::add;
  std::int64_t begin = 0;  // of a sum: where it stores
  int index = 0;           // action or message
  std::int64_t step = 0;
  bool adds() const { return phase == Phase::add || phase == Phase::add_received; }
};

class Compiler {
 public:
  Compiler(const schedule::Schedule& schedule, std::size_t lane, std::int64_t elements, DataType type,
           Aliasing aliasing, Vectors vectors, const std::vector<int>& nodes)
      : lane_(schedule.lanes[lane]),
        ranks_(schedule.ranks),
        nodes_(nodes),
        elements_(elements),
        quantum_(border_bytes / size_of(type)),
        aliasing_(aliasing),
        vectors_(vectors),
        cells_(lane_.chunks * (2 + lane_.slots)),
        current_(static_cast<std::size_t>(ranks_ * cells_), none),
        at_home_(current_.size(), none),
        scratch_used_(static_cast<std::size_t>(ranks_), 0) {}

  void run();
  Dataflow part_of(Rank rank);

 private:
  // The symbolic run.
  void begin();
  void run_round(int round);
  void gather_writes(Rank rank, const std::vector<Transfer>& transfers, int round);
  int brought(int version, Rank to, std::int64_t elements, int round);
  void apply_writes(Rank rank, int round);
  // Where versions go.
  void place(int action);
  bool push(int action);
  bool may_overwrite(int version, int action, int round) const;
  void place_result(Action& action, int self, Version& version);
  void stage(int version);
  void move_home(int version);
  bool read_by_others(const Version& version) const;
  // Messages.
  bool crosses(Rank a, Rank b) const {
    return !nodes_.empty() && nodes_[static_cast<std::size_t>(a)] != nodes_[static_cast<std::size_t>(b)];
  }
  int earliest_post(const Action& receive) const;
  void time_messages();
  void join_messages();
  bool goes_on(const Crossing& before, const Crossing& next) const;
  // Steps and waits.
  bool adds_received(const Action& sum) const;
  void order_items();
  void number_steps();
  void number_message(const Item& item, std::int32_t& posted);
  bool continues(const Action& before, const Action& next) const;
  void add_waits(const Action& action, int self, std::map<Rank, std::int64_t>& waits) const;
  void wait_for(int action, Rank rank, std::map<Rank, std::int64_t>& waits) const;
  void add_end(Rank rank, Dataflow& part) const;
  DataflowStep sum_step(std::span<const Item> items, Dataflow& part, std::map<Rank, std::int64_t>& waits) const;
  DataflowStep message_step(const Item& item, Dataflow& part, std::map<Rank, std::int64_t>& waits) const;
  const Location& read_location(const Version& version, Rank reader) const {
    return reader == version.rank ? version.own : version.shared;
  }

  std::int64_t cell(const Region& region, std::int64_t chunk) const;
  std::size_t index(Rank rank, std::int64_t cell) const { return static_cast<std::size_t>(rank * cells_ + cell); }
  bool is_slot(std::int64_t cell) const { return cell >= 2 * lane_.chunks; }
  bool is_output(std::int64_t cell) const {
    return cell != none && !is_slot(cell) && (aliasing_ == Aliasing::in_place || cell >= lane_.chunks);
  }
  schedule::ElementRange range_of(std::int64_t cell) const {
    return schedule::chunk_elements(elements_, lane_.chunks, cell % lane_.chunks, quantum_);
  }
  Location home_of(Rank rank, std::int64_t cell) const {
    return {rank, is_output(cell) ? Home::output : Home::input, range_of(cell).begin};
  }
  Location new_scratch(Rank rank, std::int64_t elements);
  int add_version(Rank rank, std::int64_t cell, int producer);
  int add_action(Rank rank, int round, std::int64_t elements, std::vector<int> sources);
  Version& version(int v) { return versions_[static_cast<std::size_t>(v)]; }
  const Version& version(int v) const { return versions_[static_cast<std::size_t>(v)]; }
  Action& action(int a) { return actions_[static_cast<std::size_t>(a)]; }
  const Action& action(int a) const { return actions_[static_cast<std::size_t>(a)]; }

  const schedule::Lane& lane_;
  int ranks_;
  const std::vector<int>& nodes_;
  std::int64_t elements_;
  std::int64_t quantum_;
  Aliasing aliasing_;
  Vectors vectors_;
  std::int64_t cells_;
  std::vector<Program> programs_;
  std::vector<Version> versions_;
  std::vector<Action> actions_;
  std::vector<int> current_;  // [rank, cell]: the version that a program sees
  std::vector<int> at_home_;  // [rank, cell]: the version that lies in the vector
  std::vector<std::int64_t> scratch_used_;

  std::map<std::pair<Rank, Rank>, std::vector<std::vector<int>>> in_flight_;  // (source, destination)
  std::map<std::pair<Rank, Rank>, std::size_t> taken_;
  std::map<std::int64_t, std::vector<std::pair<Rank, int>>> writes_;  // cell -> contributions
  std::vector<Crossing> crossings_;                                   // rounds in order
  std::vector<Message> messages_;
  std::vector<std::vector<Item>> order_;  // of each rank
  std::vector<std::int64_t> step_of_;     // of each action: the step that completes it
};

// In place, a chunk of input and the chunk of output are one cell.
std::int64_t Compiler::cell(const Region& region, std::int64_t chunk) const {
  switch (region.space) {
    case Space::input: return chunk;
    case Space::output: return aliasing_ == Aliasing::in_place ? chunk : lane_.chunks + chunk;
    case Space::slot: return lane_.chunks * (2 + region.slot) + chunk;
  }
  return 0;
}

int Compiler::add_version(Rank rank, std::int64_t cell, int producer) {
  Version made;
  made.rank = rank;
  made.cell = cell;
  made.producer = producer;
  versions_.push_back(std::move(made));
  return static_cast<int>(versions_.size()) - 1;
}

int Compiler::add_action(Rank rank, int round, std::int64_t elements, std::vector<int> sources) {
  const int made = static_cast<int>(actions_.size());
  const bool adds = sources.size() > 1;
  int contributions = 0;
  for (const int source : sources) {
    version(source).readers.push_back(made);
    contributions += version(source).contributions;
  }
  actions_.push_back({StepKind::sum,
                      rank,
                      round,
                      elements,
                      std::move(sources),
                      {},
                      false,
                      contributions,
                      adds && contributions == ranks_});
  return made;
}

Location Compiler::new_scratch(Rank rank, std::int64_t elements) {
  std::int64_t& used = scratch_used_[static_cast<std::size_t>(rank)];
  const Location location{rank, Home::scratch, used};
  used += (elements + quantum_ - 1) / quantum_ * quantum_;
  return location;
}

void Compiler::begin() {
  for (Rank rank = 0; rank < ranks_; ++rank) {
    programs_.push_back(lane_.program(rank));
    for (std::int64_t chunk = 0; chunk < lane_.chunks; ++chunk) {
      const int leaf = add_version(rank, chunk, none);
      version(leaf).own = version(leaf).shared = home_of(rank, chunk);
      current_[index(rank, chunk)] = at_home_[index(rank, chunk)] = leaf;
    }
  }
}

/// What rank `to` reads of another's version: itself inside a node, from another node what a message brings.
int Compiler::brought(int v, Rank to, std::int64_t elements, int round) {
  if (elements == 0) return v;  // an empty chunk has no version
  const Rank from = version(v).rank;
  if (!crosses(from, to)) return v;
  const int send = add_action(from, round, elements, {v});
  action(send).kind = StepKind::send;
  const int receive = add_action(to, round, elements, {});
  action(receive).kind = StepKind::receive;
  const int arrived = add_version(to, none, receive);
  version(arrived).contributions = version(v).contributions;
  action(receive).stores.push_back({arrived, {}, none});
  crossings_.push_back({send, receive, round, round});
  return arrived;
}

void Compiler::gather_writes(Rank rank, const std::vector<Transfer>& transfers, int round) {
  writes_.clear();
  for (const Transfer& transfer : transfers) {
    if (transfer.kind == TransferKind::send) continue;
    const bool arrives = transfer.kind == TransferKind::receive || transfer.kind == TransferKind::receive_reduce;
    const bool adds = transfer.kind == TransferKind::receive_reduce || transfer.kind == TransferKind::reduce;
    const std::vector<std::int64_t> targets = transfer.to.chunk_list();
    const std::vector<std::int64_t> owns =
        transfer.kind == TransferKind::receive ? targets : transfer.from.chunk_list();
    const std::vector<int>* message = nullptr;
    if (arrives) {
      const auto& messages = in_flight_[{transfer.peer, rank}];
      std::size_t& taken = taken_[{transfer.peer, rank}];
      RINGMASTER_ASSERT(taken < messages.size(), "a receive without its send");
      message = &messages[taken++];
      RINGMASTER_ASSERT(message->size() == targets.size(), "a message of another size than its receive");
    }
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const std::int64_t to = cell(transfer.to, targets[i]);
      const Region& operand = transfer.kind == TransferKind::reduce ? transfer.to : transfer.from;
      auto& contributions = writes_[to];
      if (adds && contributions.empty()) {
        const std::int64_t own = transfer.kind == TransferKind::reduce ? targets[i] : owns[i];
        contributions.emplace_back(rank, current_[index(rank, cell(operand, own))]);
      }
      const Rank source = transfer.kind == TransferKind::copy ? rank : transfer.peer;
      contributions.emplace_back(source, arrives ? brought((*message)[i], rank, range_of(to).size(), round)
                                                 : current_[index(rank, cell(transfer.from, owns[i]))]);
    }
  }
}

void Compiler::apply_writes(Rank rank, int round) {
  for (auto& [to, contributions] : writes_) {
    const std::int64_t elements = range_of(to).size();
    std::stable_sort(contributions.begin(), contributions.end(),
                     [&](const auto& a, const auto& b) { return lane_.place_of(a.first) < lane_.place_of(b.first); });
    std::vector<int> sources;
    for (const auto& contribution : contributions) sources.push_back(contribution.second);
    const bool nothing = sources.size() == 1 && sources.front() == current_[index(rank, to)];
    if (elements == 0 || nothing) continue;  // in place, a copy of the input to the output
    if (sources.size() == 1 && version(sources.front()).cell == none) {
      version(sources.front()).cell = to;  // the message is all that is written
      continue;
    }
    const int made = add_action(rank, round, elements, std::move(sources));
    const int written = add_version(rank, to, made);
    version(written).contributions = action(made).contributions;
    action(made).stores.push_back({written, {}, none});
  }
}

void Compiler::run_round(int round) {
  const auto transfers_of = [&](Rank rank) -> const std::vector<Transfer>* {
    const Program& program = programs_[static_cast<std::size_t>(rank)];
    return round < static_cast<int>(program.size()) ? &program[static_cast<std::size_t>(round)].transfers : nullptr;
  };
  in_flight_.clear();
  taken_.clear();
  for (Rank rank = 0; rank < ranks_; ++rank) {
    const std::vector<Transfer>* transfers = transfers_of(rank);
    if (transfers == nullptr) continue;
    for (const Transfer& transfer : *transfers) {
      if (transfer.kind != TransferKind::send) continue;
      std::vector<int> message;
      for (const std::int64_t chunk : transfer.from.chunk_list()) {
        message.push_back(current_[index(rank, cell(transfer.from, chunk))]);
      }
      in_flight_[{rank, transfer.peer}].push_back(std::move(message));
    }
  }
  const std::size_t first = actions_.size();
  for (Rank rank = 0; rank < ranks_; ++rank) {
    const std::vector<Transfer>* transfers = transfers_of(rank);
    if (transfers == nullptr) continue;
    gather_writes(rank, *transfers, round);
    apply_writes(rank, round);
  }
  for (std::size_t a = first; a < actions_.size(); ++a) {
    if (actions_[a].stores.empty()) continue;
    const int made = actions_[a].stores.front().version;
    if (version(made).cell != none) current_[index(actions_[a].rank, version(made).cell)] = made;
  }
}

bool Compiler::read_by_others(const Version& v) const {
  return std::any_of(v.readers.begin(), v.readers.end(), [&](int reader) { return action(reader).rank != v.rank; });
}

/// Whether `self`, in `round`, may store over `version`: everybody else that reads it does so in an earlier round.
bool Compiler::may_overwrite(int v, int self, int round) const {
  if (v == none) return true;
  const Version& old = version(v);
  if (old.producer != none && old.producer != self && action(old.producer).round >= round) return false;
  return std::all_of(old.readers.begin(), old.readers.end(),
                     [&](int reader) { return reader == self || action(reader).round < round; });
}

// A receive of what the sender's own sum made: that sum stores it here as well.
bool Compiler::push(int self) {
  if (vectors_ == Vectors::own || action(self).sources.size() != 1) return false;
  const int made = action(self).stores.front().version;
  const int source = action(self).sources.front();
  const int sum = version(source).producer;
  if (sum == none || version(source).rank == action(self).rank || action(sum).rank != version(source).rank)
    return false;
  if (action(sum).kind != StepKind::sum) return false;
  if (!is_output(version(made).cell)) return false;
  const int old = at_home_[index(version(made).rank, version(made).cell)];
  if (!may_overwrite(old, sum, action(sum).round)) return false;
  Version& moved = version(made);
  moved.producer = sum;
  moved.own = moved.shared = home_of(moved.rank, moved.cell);
  action(sum).stores.push_back({made, moved.own, old});
  auto& readers = version(source).readers;
  readers.erase(std::find(readers.begin(), readers.end(), self));
  at_home_[index(moved.rank, moved.cell)] = made;
  action(self).dropped = true;
  return true;
}

void Compiler::move_home(int v) {
  const Rank rank = version(v).rank;
  const std::int64_t cell = version(v).cell;
  const int moving = add_action(rank, action(version(v).producer).round + 1, range_of(cell).size(), {v});
  int& held = at_home_[index(rank, cell)];
  action(moving).stores.push_back({v, home_of(rank, cell), held});
  held = v;
}

void Compiler::place_result(Action& made, int self, Version& v) {
  Store& store = made.stores.front();
  if (v.cell == none) {
    store.to = v.own = v.shared = new_scratch(v.rank, made.elements);
    return;
  }
  int& held = at_home_[index(v.rank, v.cell)];
  const bool home = is_output(v.cell) && may_overwrite(held, self, made.round);
  const bool others = read_by_others(v);
  const bool scratch = !home || (others && vectors_ == Vectors::own);
  if (home && (!scratch || (v.result && made.kind == StepKind::sum))) {  // a message arrives at one place
    store.to = v.own = v.shared = home_of(v.rank, v.cell);
    store.replaces = std::exchange(held, store.version);
    if (!scratch) return;
    v.shared = new_scratch(v.rank, made.elements);
    made.stores.push_back({store.version, v.shared, none});
    return;
  }
  store.to = v.own = v.shared = new_scratch(v.rank, made.elements);
}

void Compiler::place(int self) {
  if (action(self).stores.empty() || push(self)) return;
  const int made = action(self).stores.front().version;
  place_result(action(self), self, version(made));
  const bool away = version(made).own.home == Home::scratch;
  if (away && version(made).result) move_home(made);
}

/// The vector of its owner is nobody else's to read: what others need is copied first.
void Compiler::stage(int v) {
  if (version(v).producer != none || !read_by_others(version(v)) || range_of(version(v).cell).size() == 0) return;
  const Rank rank = version(v).rank;
  const int copying = add_action(rank, -1, range_of(version(v).cell).size(), {v});
  version(v).shared = new_scratch(rank, action(copying).elements);
  version(v).staged_by = copying;
  action(copying).stores.push_back({v, version(v).shared, none});
}

void Compiler::run() {
  begin();
  for (int round = 0; round < lane_.rounds; ++round) run_round(round);
  for (Rank rank = 0; rank < ranks_; ++rank) {
    for (std::int64_t c = 0; c < cells_; ++c) {
      const int last = current_[index(rank, c)];
      if (last != none && is_output(c)) version(last).result = true;
    }
  }
  const int actions = static_cast<int>(actions_.size());
  const int leaves = static_cast<int>(ranks_ * lane_.chunks);
  for (int v = 0; v < leaves && vectors_ == Vectors::own; ++v) stage(v);
  for (int a = 0; a < actions; ++a) place(a);
  time_messages();
  join_messages();
  order_items();
  number_steps();
}

/// Not before what lies there was made and read; and not much before the message can come.
int Compiler::earliest_post(const Action& receive) const {
  const int replaced = receive.stores.front().replaces;
  if (replaced == none) return before_rounds;
  const Version& old = version(replaced);
  int last = old.producer == none ? before_rounds : action(old.producer).round;
  for (const int reader : old.readers) last = std::max(last, action(reader).round);
  return std::max(last + 1, receive.round - 1);
}

void Compiler::time_messages() {
  std::map<std::pair<Rank, Rank>, int> latest;  // receives of one source are posted in the order of its sends
  std::vector<int> overwritten(versions_.size(), after_rounds);
  const auto overwrites = [&](const Action& made, int round) {
    for (const Store& store : made.stores) {
      if (store.replaces == none) continue;
      int& first = overwritten[static_cast<std::size_t>(store.replaces)];
      first = std::min(first, round);
    }
  };
  for (const Action& made : actions_) {
    if (made.kind == StepKind::sum) overwrites(made, made.round);
  }
  for (Crossing& crossing : crossings_) {
    const Action& receive = action(crossing.receive);
    int& before = latest.try_emplace({action(crossing.send).rank, receive.rank}, before_rounds).first->second;
    crossing.posted = before = std::max(before, earliest_post(receive));
    overwrites(receive, crossing.posted);
  }
  for (Crossing& crossing : crossings_) {
    const int first = overwritten[static_cast<std::size_t>(action(crossing.send).sources.front())];
    crossing.awaited = first == after_rounds ? after_rounds : first - 1;
    RINGMASTER_ASSERT(crossing.posted <= action(crossing.receive).round, "a receive that is posted too late");
    RINGMASTER_ASSERT(crossing.awaited >= action(crossing.send).round, "a send that is overwritten");
  }
}

// Both sides come to the same messages: what is compared here is known to both.
bool Compiler::goes_on(const Crossing& before, const Crossing& next) const {
  const Action& send = action(before.send);
  const Action& receive = action(before.receive);
  return send.rank == action(next.send).rank && receive.rank == action(next.receive).rank &&
         before.posted == next.posted && before.awaited == next.awaited && continues(send, action(next.send)) &&
         continues(receive, action(next.receive));
}

void Compiler::join_messages() {
  for (std::size_t i = 0; i < crossings_.size(); ++i) {
    if (i == 0 || !goes_on(crossings_[i - 1], crossings_[i])) messages_.push_back({i, i, 0, 0, 0});
    messages_.back().end = i + 1;
    messages_.back().elements += action(crossings_[i].send).elements;
  }
}

/// Whether `next` goes on where `before` ends, in all that it reads and stores.
bool Compiler::continues(const Action& before, const Action& next) const {
  const auto follows = [&](const Location& a, const Location& b) {
    return a.rank == b.rank && a.home == b.home && a.begin + before.elements == b.begin;
  };
  if (before.round != next.round || before.sources.size() != next.sources.size() ||
      before.stores.size() != next.stores.size() || before.completes != next.completes) {
    return false;
  }
  for (std::size_t i = 0; i < next.sources.size(); ++i) {
    const Location& a = read_location(version(before.sources[i]), before.rank);
    const Location& b = read_location(version(next.sources[i]), next.rank);
    if (!follows(a, b)) return false;
  }
  for (std::size_t i = 0; i < next.stores.size(); ++i) {
    if (!follows(before.stores[i].to, next.stores[i].to)) return false;
  }
  return true;
}

bool Compiler::adds_received(const Action& sum) const {
  return std::any_of(sum.sources.begin(), sum.sources.end(), [&](int v) {
    const int producer = version(v).producer;
    return producer != none && action(producer).kind == StepKind::receive && action(producer).round == sum.round;
  });
}

// Rounds in order, and chunks in order within a round, so that neighbours become one step.
void Compiler::order_items() {
  order_.resize(static_cast<std::size_t>(ranks_));
  const auto add = [&](Rank rank, int round, Phase phase, std::int64_t begin, std::size_t index) {
    order_[static_cast<std::size_t>(rank)].push_back({round, phase, begin, static_cast<int>(index), 0});
  };
  for (std::size_t a = 0; a < actions_.size(); ++a) {
    const Action& made = actions_[a];
    if (made.dropped || made.kind != StepKind::sum) continue;
    const Phase phase = adds_received(made) ? Phase::add_received : Phase::add;
    add(made.rank, made.round, phase, made.stores.front().to.begin, a);
  }
  for (std::size_t m = 0; m < messages_.size(); ++m) {
    const Crossing& first = crossings_[messages_[m].first];
    const Action& send = action(first.send);
    const Action& receive = action(first.receive);
    add(receive.rank, first.posted, Phase::post_receives, 0, m);
    add(receive.rank, receive.round, Phase::await_receives, 0, m);
    add(send.rank, send.round, Phase::post_sends, 0, m);
    add(send.rank, first.awaited, Phase::await_sends, 0, m);
  }
  for (std::vector<Item>& order : order_) {
    std::stable_sort(order.begin(), order.end(), [](const Item& a, const Item& b) {
      return std::tie(a.round, a.phase, a.begin) < std::tie(b.round, b.phase, b.begin);
    });
  }
}

void Compiler::number_steps() {
  step_of_.resize(actions_.size());
  for (std::vector<Item>& order : order_) {
    std::int64_t step = -1;
    std::int32_t posted = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      Item& item = order[i];
      const bool joins = i > 0 && item.adds() && order[i - 1].phase == item.phase &&
                         continues(action(order[i - 1].index), action(item.index));
      if (!joins) ++step;
      item.step = step;
      if (item.adds()) {
        step_of_[static_cast<std::size_t>(item.index)] = step;
      } else {
        number_message(item, posted);
      }
    }
  }
}

void Compiler::number_message(const Item& item, std::int32_t& posted) {
  Message& message = messages_[static_cast<std::size_t>(item.index)];
  if (item.phase == Phase::post_sends) message.at_sender = posted++;
  if (item.phase == Phase::post_receives) message.at_receiver = posted++;
  for (std::size_t c = message.first; c < message.end; ++c) {
    if (item.phase == Phase::await_sends) step_of_[static_cast<std::size_t>(crossings_[c].send)] = item.step;
    if (item.phase == Phase::await_receives) step_of_[static_cast<std::size_t>(crossings_[c].receive)] = item.step;
  }
}

void Compiler::wait_for(int a, Rank rank, std::map<Rank, std::int64_t>& waits) const {
  if (action(a).rank == rank) return;
  std::int64_t& steps = waits[action(a).rank];
  steps = std::max(steps, step_of_[static_cast<std::size_t>(a)] + 1);
}

void Compiler::add_waits(const Action& made, int self, std::map<Rank, std::int64_t>& waits) const {
  for (const int source : made.sources) {
    const Version& v = version(source);
    if (v.rank == made.rank) {
      if (v.producer != none) wait_for(v.producer, made.rank, waits);
      continue;
    }
    const int ready = v.staged_by != none ? v.staged_by : v.producer;
    if (ready != none) {
      wait_for(ready, made.rank, waits);
    } else {
      waits.try_emplace(v.rank, 0);
    }
  }
  for (const Store& store : made.stores) {
    if (store.to.rank != made.rank) waits.try_emplace(store.to.rank, 0);
    if (store.replaces == none) continue;
    const Version& old = version(store.replaces);
    if (old.producer != none) wait_for(old.producer, made.rank, waits);
    for (const int reader : old.readers) {
      if (reader != self) wait_for(reader, made.rank, waits);
    }
  }
}

// A rank is done when the others are: with reading its vectors and scratch, and with storing into its output.
void Compiler::add_end(Rank rank, Dataflow& part) const {
  std::map<Rank, std::int64_t> vectors;
  std::map<Rank, std::int64_t> all;
  for (std::size_t a = 0; a < actions_.size(); ++a) {
    const Action& made = actions_[a];
    if (made.dropped || made.rank == rank) continue;
    for (const int source : made.sources) {
      const Location& from = read_location(version(source), made.rank);
      if (from.rank != rank) continue;
      wait_for(static_cast<int>(a), rank, all);
      if (from.home != Home::scratch) wait_for(static_cast<int>(a), rank, vectors);
    }
    for (const Store& store : made.stores) {
      if (store.to.rank != rank) continue;
      wait_for(static_cast<int>(a), rank, all);
      wait_for(static_cast<int>(a), rank, vectors);
    }
  }
  std::map<Rank, std::int64_t> known;  // of others, from the waits of the steps
  for (const Wait& wait : part.waits) {
    auto& steps = known.try_emplace(wait.rank, -1).first->second;
    steps = std::max(steps, wait.steps);
  }
  for (const auto& [other, steps] : all) {
    const auto at = known.find(other);
    if (at != known.end() && at->second >= steps) continue;
    part.at_end.push_back({other, steps});
    const auto vector = vectors.find(other);
    const bool touched = vector != vectors.end() && (at == known.end() || at->second < vector->second);
    // Whoever is waited for in every run has left the run before: its scratch may be written in the run after.
    if (touched) part.at_end_of_turn.push_back({other, vector->second});
    if (!touched && at == known.end()) part.at_end_of_turn.push_back({other, steps});
  }
}

DataflowStep Compiler::sum_step(std::span<const Item> items, Dataflow& part,
                                std::map<Rank, std::int64_t>& waits) const {
  DataflowStep step;
  step.read_again = false;
  for (const Item& item : items) {
    const Action& made = action(item.index);
    step.elements += made.elements;
    add_waits(made, item.index, waits);
    for (const Store& store : made.stores) {
      step.read_again = step.read_again || !version(store.version).readers.empty();
    }
  }
  const Action& first = action(items.front().index);
  step.first_source = static_cast<std::int32_t>(part.sources.size());
  for (const int source : first.sources) part.sources.push_back(read_location(version(source), first.rank));
  step.source_count = static_cast<std::int32_t>(first.sources.size());
  step.first_destination = static_cast<std::int32_t>(part.destinations.size());
  for (const Store& store : first.stores) part.destinations.push_back(store.to);
  step.destination_count = static_cast<std::int32_t>(first.stores.size());
  step.completes = first.completes;
  return step;
}

/// Posting waits for what it reads or overwrites.
DataflowStep Compiler::message_step(const Item& item, Dataflow& part, std::map<Rank, std::int64_t>& waits) const {
  const Message& message = messages_[static_cast<std::size_t>(item.index)];
  const Crossing& first = crossings_[message.first];
  const Action& send = action(first.send);
  const Action& receive = action(first.receive);
  const bool sends = item.phase == Phase::post_sends || item.phase == Phase::await_sends;
  DataflowStep step;
  step.elements = message.elements;
  step.message = sends ? message.at_sender : message.at_receiver;
  step.kind = StepKind::await;
  if (item.phase != Phase::post_sends && item.phase != Phase::post_receives) return step;
  step.kind = sends ? StepKind::send : StepKind::receive;
  for (std::size_t c = message.first; c < message.end; ++c) {
    const int posted = sends ? crossings_[c].send : crossings_[c].receive;
    add_waits(action(posted), posted, waits);
  }
  const Location& place = sends ? version(send.sources.front()).own : receive.stores.front().to;
  part.messages.push_back({sends ? receive.rank : send.rank, place, message.elements});
  return step;
}

Dataflow Compiler::part_of(Rank rank) {
  Dataflow part;
  std::map<Rank, std::int64_t> known;
  const std::vector<Item>& order = order_[static_cast<std::size_t>(rank)];
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i + 1;
    while (end < order.size() && order[end].step == order[i].step) ++end;
    std::map<Rank, std::int64_t> waits;
    DataflowStep step =
        order[i].adds() ? sum_step({order.data() + i, end - i}, part, waits) : message_step(order[i], part, waits);
    step.first_wait = static_cast<std::int32_t>(part.waits.size());
    for (const auto& [other, steps] : waits) {
      const auto [at, fresh] = known.try_emplace(other, steps);
      if (!fresh && at->second >= steps) continue;
      at->second = std::max(at->second, steps);
      part.waits.push_back({other, steps});
    }
    step.wait_count = static_cast<std::int32_t>(part.waits.size()) - step.first_wait;
    part.steps.push_back(step);
    i = end;
  }
  add_end(rank, part);
  for (const auto& steps : order_) part.steps_of.push_back(steps.empty() ? 0 : steps.back().step + 1);
  part.scratch_elements = *std::max_element(scratch_used_.begin(), scratch_used_.end());
  return part;
}

}  // namespace

Dataflow compile_dataflow(const schedule::Schedule& schedule, std::size_t lane, Rank rank, std::int64_t elements,
                          DataType type, Aliasing aliasing, Vectors vectors, const std::vector<int>& nodes) {
  Compiler compiler(schedule, lane, elements, type, aliasing, vectors, nodes);
  compiler.run();
  return compiler.part_of(rank);
}

}  // namespace ringmaster::collective
