// SPDX-License-Identifier: Apache-2.0
#include "experiment/config_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"

namespace ringmaster::experiment {
namespace {

using Value = const ParameterValue&;
using enum ParameterType;

std::int64_t whole(Value value) { return *std::get_if<std::int64_t>(&value); }
int count(Value value) { return static_cast<int>(whole(value)); }
double number(Value value) { return *std::get_if<double>(&value); }
bool truth(Value value) { return *std::get_if<bool>(&value); }
const std::string& word(Value value) { return *std::get_if<std::string>(&value); }

std::vector<std::string> label_names() {
  std::vector<std::string> names;
  for (int label = 0; label < activity_count; ++label) names.emplace_back(name_of(static_cast<Label>(label)));
  return names;
}

Label label_of(const std::string& name) {
  for (int label = 0; label < activity_count; ++label) {
    if (name == name_of(static_cast<Label>(label))) return static_cast<Label>(label);
  }
  return Label::other;
}

model::OptimizerKind optimizer_of(const std::string& name) {
  return name == "sgd" ? model::OptimizerKind::sgd : model::OptimizerKind::adamw;
}

constexpr KeyScope run = KeyScope::run;
constexpr KeyScope point = KeyScope::point;
constexpr double most_int = 2147483647.0;

// name, type, unit, default, lowest, highest, help, choices | scope, automatic word and what it stands for | effect
const std::vector<Key>& table() {
  static const std::vector<Key> keys{
      {{"name", text, "", "run", 0, 0, "names the folder under results/; default: the file's name"},
       run,
       "",
       0,
       [](Config& c, Setup&, Value v) { c.name = word(v); }},
      {{"seed", integer, "", "1", 0, 9.0e15, "of parameters, data order and the order of points in a round"},
       run,
       "",
       0,
       [](Config& c, Setup&, Value v) { c.seed = static_cast<std::uint64_t>(whole(v)); }},
      {{"device", text, "", "auto", 0, 0, "where to compute", {"auto", "cpu"}},
       run,
       "",
       0,
       [](Config& c, Setup&, Value v) { c.device = word(v); }},

      {{"data.kind", text, "", "auto", 0, 0, "the dataset; auto: synthetic, or text where data.path is given"},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.data.kind = word(v); }},
      {{"data.path", text, "", "", 0, 0, "a file or folder of text; relative paths stand from the config's folder"},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.data.path = word(v); }},
      {{"data.loaders", integer, "threads", "auto", 0, 64, "loader threads a rank; auto: what the cpuset leaves free"},
       point,
       "auto",
       -1,
       [](Config&, Setup& s, Value v) { s.loader.threads = count(v); }},
      {{"data.queue", integer, "batches", "4", 1, 1024, "batches made in advance at most"},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.loader.queue = count(v); }},

      {{"train.batch", integer, "samples", "8", 1, 1e6, "samples a rank, step and micro-batch"},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.train.batch = whole(v); }},
      {{"train.micro_batches", integer, "", "1", 1, 4096, "accumulated before the reduction"},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.train.micro_batches = count(v); }},
      {{"train.threads", integer, "threads", "1", 1, 1024, "threads of a rank's matrix products"},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.threads = count(v); }},
      {{"train.optimizer", text, "", "adamw", 0, 0, "", {"adamw", "sgd"}},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.train.optimizer.kind = optimizer_of(word(v)); }},
      {{"train.learning_rate", real, "", "0.001", 0, 1e6, ""},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.train.optimizer.learning_rate = number(v); }},
      {{"train.momentum", real, "", "0.9", 0, 1, "sgd"},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.train.optimizer.momentum = number(v); }},
      {{"train.beta1", real, "", "0.9", 0, 0.999999, "adamw"},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.train.optimizer.beta1 = number(v); }},
      {{"train.beta2", real, "", "0.95", 0, 0.999999, "adamw"},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.train.optimizer.beta2 = number(v); }},
      {{"train.epsilon", real, "", "1e-08", 1e-30, 1, "adamw"},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.train.optimizer.epsilon = number(v); }},
      {{"train.weight_decay", real, "", "0.01", 0, 1e3, "decoupled from the gradient"},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.train.optimizer.weight_decay = number(v); }},
      {{"train.clip_norm", real, "", "0", 0, 1e12, "bound on the gradient's norm; 0: none"},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.train.clip_norm = number(v); }},
      {{"train.checkpoint.folder", text, "", "", 0, 0, "where checkpoints go; empty: none"},
       run,
       "",
       0,
       [](Config& c, Setup&, Value v) { c.checkpoint.folder = word(v); }},
      {{"train.checkpoint.every", integer, "steps", "0", 0, 1e9, "steps between checkpoints; 0: none"},
       run,
       "",
       0,
       [](Config& c, Setup&, Value v) { c.checkpoint.every = count(v); }},

      {{"parallel.data", integer, "ranks", "auto", 1, 1e6, "data-parallel ranks; auto: all of the job"},
       point,
       "auto",
       0,
       [](Config&, Setup& s, Value v) { s.ranks = count(v); }},

      {{"communication.bucket", size, "bytes", "4M", 4, 1LL << 40, "gradients reduced together"},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.train.bucket_bytes = whole(v); }},
      {{"communication.segment", size, "bytes", "auto", 64, 1LL << 40,
        "slices that follow each other through the rounds"},
       point,
       "auto",
       0,
       [](Config&, Setup& s, Value v) { s.train.allreduce.segment_bytes = whole(v); }},
      {{"communication.overlap", boolean, "", "true", 0, 0, "reduce during backward, not after it"},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.train.overlap = truth(v); }},
      {{"communication.engine",
        text,
        "",
        "auto",
        0,
        0,
        "who moves messages: a thread of its own, or the main lane between layers",
        {"auto", "thread", "inline"}},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.engine = word(v); }},

      {{"measure.rounds", integer, "", "15", 1, 1e5, "blocks a point; verdicts need 15"},
       run,
       "",
       0,
       [](Config& c, Setup&, Value v) { c.measure.rounds = count(v); }},
      {{"measure.steps", integer, "steps", "4", 1, 1e6, "optimizer steps a block"},
       run,
       "",
       0,
       [](Config& c, Setup&, Value v) { c.measure.steps = count(v); }},
      {{"measure.warmup", integer, "", "1", 0, 1e5, "blocks a point before the first that counts"},
       run,
       "",
       0,
       [](Config& c, Setup&, Value v) { c.measure.warmup = count(v); }},
      {{"measure.held_out", integer, "samples", "32", 1, 1e9, "held-out samples of the last loss"},
       run,
       "",
       0,
       [](Config& c, Setup&, Value v) { c.measure.held_out = whole(v); }},
      {{"measure.twin", boolean, "", "true", 0, 0, "also run the step without communication"},
       run,
       "",
       0,
       [](Config& c, Setup&, Value v) { c.measure.twin = truth(v); }},
      {{"measure.single", boolean, "", "true", 0, 0, "also run one rank alone, for scaling efficiency"},
       run,
       "",
       0,
       [](Config& c, Setup&, Value v) { c.measure.single = truth(v); }},
      {{"measure.recording_cost", boolean, "", "true", 0, 0, "also run the baseline with the recorder off"},
       run,
       "",
       0,
       [](Config& c, Setup&, Value v) { c.measure.recording_cost = truth(v); }},
      {{"measure.timeout_s", real, "s", "60", 0.1, 1e6, "standstill that ends the job"},
       run,
       "",
       0,
       [](Config& c, Setup&, Value v) { c.measure.timeout_s = number(v); }},
      {{"measure.check_every", integer, "steps", "0", 0, most_int,
        "steps between comparisons over ranks; 0: at the end"},
       run,
       "",
       0,
       [](Config& c, Setup&, Value v) { c.measure.check_every = count(v); }},

      {{"plant.rank", integer, "", "all", 0, 1e6, "the rank that sleeps or computes longer"},
       point,
       "all",
       -1,
       [](Config&, Setup& s, Value v) { s.train.plant.rank = count(v); }},
      {{"plant.sleep_s", real, "s", "0", 0, 60, "a sleep in each step"},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.train.plant.sleep_s = number(v); }},
      {{"plant.sleep_in", text, "", "other", 0, 0, "the account that the sleep is in", label_names()},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.train.plant.label = label_of(word(v)); }},
      {{"plant.unrecorded", boolean, "", "false", 0, 0, "sleep outside of every account: the books must not balance"},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.train.plant.unrecorded = truth(v); }},
      {{"plant.compute_factor", real, "", "1", 1, 100, "forward and backward take so many times longer"},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.train.plant.compute_factor = number(v); }},
      {{"plant.slow_rank", integer, "", "0", 0, 1e6, "the rank that plant.slow_rank_s slows"}, point, "", 0, nullptr},
      {{"plant.slow_rank_s", real, "s", "0", 0, 60, "a sleep in each forward pass of plant.slow_rank"},
       point,
       "",
       0,
       nullptr},
      {{"plant.loader_s", real, "s", "0", 0, 60, "each batch takes so much longer to load"},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.loader.planted_delay_s = number(v); }},
      {{"plant.link_latency_s", real, "s", "0", 0, 60, "each message takes at least so long"},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.link.latency_s = number(v); }},
      {{"plant.link_bytes_per_s", size, "bytes", "0", 0, 1LL << 50, "speed of each link; 0: as it is"},
       point,
       "",
       0,
       [](Config&, Setup& s, Value v) { s.link.bytes_per_s = static_cast<double>(whole(v)); }},
  };
  return keys;
}

}  // namespace

std::span<const Key> config_keys() { return table(); }

const Key* find_key(const std::string& dotted) {
  for (const Key& key : table()) {
    if (dotted == key.spec.name) return &key;
  }
  return nullptr;
}

std::optional<ParameterValue> parse_value(const ParameterSpec& spec, const std::string& text, std::string& problem) {
  const auto plain = [](std::string word) {
    std::replace(word.begin(), word.end(), '_', '-');
    return word;
  };
  for (const std::string& choice : spec.choices) {
    if (plain(choice) == plain(text)) return choice;
  }
  return parse_parameter(spec, text, problem);
}

std::optional<ParameterValue> parse_value(const Key& key, const std::string& text, std::string& problem) {
  if (*key.automatic != '\0' && text == key.automatic) return key.automatic_is;
  return parse_value(key.spec, text, problem);
}

std::string value_text(const ParameterValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  return *std::get_if<std::string>(&value);
}

std::string value_text(const Key& key, const ParameterValue& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number == nullptr) return value_text(value);
  if (*key.automatic != '\0' && *number == key.automatic_is) return key.automatic;
  return key.spec.type == ParameterType::size ? format_size(*number) : value_text(value);
}

std::vector<std::string> top_level_keys() {
  std::vector<std::string> names{"model"};
  for (const Key& key : table()) {
    const std::string dotted = key.spec.name;
    const std::string top = dotted.substr(0, dotted.find('.'));
    if (std::find(names.begin(), names.end(), top) == names.end()) names.push_back(top);
  }
  for (const char* name : {"sweep", "workloads", "assert"}) names.emplace_back(name);
  return names;
}

}  // namespace ringmaster::experiment
