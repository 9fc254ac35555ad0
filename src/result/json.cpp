// SPDX-License-Identifier: Apache-2.0
#include "result/json.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "result/fields.hpp"
#include "result/store.hpp"

namespace ringmaster::result {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* damaged = "the file is damaged or not one of ringmaster's";

// Times are kept to the nanosecond: the rest would be digits without meaning.
double rounded(std::string_view key, double value) {
  const bool microseconds = key.size() > 3 && key.substr(key.size() - 3) == "_us";
  return microseconds && std::isfinite(value) ? std::round(value * 1000) / 1000 : value;
}

class Writer {
 public:
  explicit Writer(Json& object) : object_(object) {}

  template <class T>
  void operator()(const char* key, const T& value) {
    object_[key] = make(key, value);
  }
  void by_account(const char* key, const std::vector<std::vector<double>>& ranks) {
    Json accounts = Json::object();
    for (std::size_t a = 0; a < account_keys.size(); ++a) {
      Json values = Json::array();
      for (const auto& rank : ranks) values.push_back(a < rank.size() ? rounded(key, rank[a]) : 0.0);
      accounts[account_keys[a]] = std::move(values);
    }
    object_[key] = std::move(accounts);
  }

 private:
  static Json make(const char* key, double value) { return rounded(key, value); }
  static Json make(const char*, int value) { return value; }
  static Json make(const char*, std::int64_t value) { return value; }
  static Json make(const char*, bool value) { return value; }
  static Json make(const char*, const std::string& value) { return value; }
  static Json make(const char*, const Texts& texts) {
    Json object = Json::object();
    for (const auto& [name, text] : texts) object[name] = text;
    return object;
  }
  template <class T>
  static Json make(const char* key, const std::vector<T>& values) {
    Json array = Json::array();
    for (const T& value : values) array.push_back(make(key, value));
    return array;
  }
  template <class T>
  requires std::is_class_v<T>
  static Json make(const char*, const T& value) {
    Json object = Json::object();
    Writer writer(object);
    fields(writer, value);
    return object;
  }

  Json& object_;
};

/// Missing keys keep their default, so that older files are read; a wrong type is an error with its place.
class Reader {
 public:
  Reader(const Json& object, Place place) : object_(object), place_(std::move(place)) {
    if (!object.is_object()) fail("", "an object", object);
  }

  template <class T>
  void operator()(const char* key, T& value) const {
    const auto at = object_.find(key);
    if (at != object_.end()) read(key, *at, value);
  }
  void by_account(const char* key, std::vector<std::vector<double>>& ranks) const {
    const auto accounts = object_.find(key);
    if (accounts == object_.end()) return;
    if (!accounts->is_object()) fail(key, "an object of accounts", *accounts);
    for (std::size_t a = 0; a < account_keys.size(); ++a) {
      const auto at = accounts->find(account_keys[a]);
      if (at == accounts->end()) continue;
      std::vector<double> values;
      read(account_keys[a], *at, values);
      if (ranks.size() < values.size()) ranks.resize(values.size(), std::vector<double>(account_keys.size(), 0.0));
      for (std::size_t r = 0; r < values.size(); ++r) ranks[r][a] = values[r];
    }
  }

 private:
  [[noreturn]] void fail(const std::string& key, const std::string& expected, const Json& got) const {
    const std::string name = key.empty() ? "the record" : "key '" + key + "'";
    complain(place_, fmt::format("{} expects {}, got {}", name, expected, got.type_name()), damaged);
  }

  // What is not finite is written as null.
  void read(const char* key, const Json& json, double& value) const {
    if (!json.is_number() && !json.is_null()) fail(key, "a number", json);
    value = json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
  }
  template <std::integral T>
  void read(const char* key, const Json& json, T& value) const {
    if (!json.is_number_integer()) fail(key, "an integer", json);
    const auto wide = json.get<std::int64_t>();
    if (wide < std::numeric_limits<T>::min() || wide > std::numeric_limits<T>::max()) {
      fail(key, "an integer in range", json);
    }
    value = static_cast<T>(wide);
  }
  void read(const char* key, const Json& json, bool& value) const {
    if (!json.is_boolean()) fail(key, "true or false", json);
    value = json.get<bool>();
  }
  void read(const char* key, const Json& json, std::string& value) const {
    if (!json.is_string()) fail(key, "a text", json);
    value = json.get<std::string>();
  }
  void read(const char* key, const Json& json, Texts& texts) const {
    if (!json.is_object()) fail(key, "an object of texts", json);
    texts.clear();
    for (const auto& [name, text] : json.items()) {
      if (!text.is_string()) fail(key, "an object of texts", json);
      texts.emplace_back(name, text.get<std::string>());
    }
  }
  template <class T>
  void read(const char* key, const Json& json, std::vector<T>& values) const {
    if (!json.is_array()) fail(key, "a list", json);
    values.clear();
    for (const Json& item : json) {
      T value{};
      read(key, item, value);
      values.push_back(std::move(value));
    }
  }
  template <class T>
  requires std::is_class_v<T>
  void read(const char*, const Json& json, T& value) const {
    const Reader reader(json, place_);
    fields(reader, value);
  }

  const Json& object_;
  Place place_;
};

template <class T>
Json to_object(const T& value) {
  Json object = Json::object();
  Writer writer(object);
  fields(writer, value);
  return object;
}

template <class T>
T from_object(const Json& object, const Place& place) {
  T value;
  const Reader reader(object, place);
  fields(reader, value);
  return value;
}

// Before rows had a role, the library's own choice was known by its name.
template <>
BenchRow from_object(const Json& object, const Place& place) {
  BenchRow row;
  row.role.clear();
  const Reader reader(object, place);
  fields(reader, row);
  if (row.role.empty()) row.role = row.variant == "library" ? "baseline" : "variant";
  return row;
}

// Texts that are no UTF-8 (a file name, an environment variable) must not stop a run from being stored.
std::string dump(const Json& json, int indent) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

Json parse(std::string_view text) { return Json::parse(text.begin(), text.end(), nullptr, false); }

template <class T>
std::string record_line(const char* record, const T& value) {
  Json object = Json::object();
  object["record"] = record;
  Writer writer(object);
  fields(writer, value);
  return dump(object, -1) + "\n";
}

template <class T>
Json array_of(const std::vector<T>& values) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(to_object(value));
  return array;
}

template <class T>
std::vector<T> vector_of(const Json& array, const Place& place) {
  std::vector<T> values;
  for (const Json& item : array) values.push_back(from_object<T>(item, place));
  return values;
}

Json complete(const Run& run) {
  Json object = to_object(run);
  object["blocks"] = array_of(run.blocks);
  object["point_ends"] = array_of(run.ends);
  object["bench_rows"] = array_of(run.rows);
  return object;
}

void check_version(const Json& object, const Place& place) {
  const auto at = object.find("schema_version");
  if (at == object.end() || !at->is_number_integer()) {
    complain(place, "has no schema_version", "is it a run of ringmaster?");
  }
  const auto version = at->get<std::int64_t>();
  if (version >= 1 && version <= schema_version) return;
  const std::string hint =
      version > schema_version
          ? fmt::format("it was written by a newer ringmaster: use one that knows version {}", version)
          : std::string("versions count from 1");
  complain(place, fmt::format("has schema version {}; this program reads 1 to {}", version, schema_version), hint);
}

void check_point(int point, const Run& run, const Place& place) {
  if (point >= 0 && static_cast<std::size_t>(point) < run.points.size()) return;
  complain(place, fmt::format("is about point {}, but run.json has {} points", point, run.points.size()),
           "do both files belong to one run?");
}

void scrub_texts(Json& json, const std::string& key,
                 const std::function<std::string(const std::string&, const std::string&)>& scrub) {
  if (json.is_string()) {
    json = scrub(key, json.get<std::string>());
  } else if (json.is_object()) {
    for (auto& [name, value] : json.items()) scrub_texts(value, value.is_string() ? key + "." + name : name, scrub);
  } else if (json.is_array()) {
    for (Json& value : json) scrub_texts(value, key, scrub);
  }
}

}  // namespace

void complain(const Place& place, const std::string& text, const std::string& hint) {
  std::vector<Complaint> complaints;
  complaints.push_back({place, text, hint});
  throw UserError(std::move(complaints));
}

std::string sample_line(const Block& block) { return record_line("block", block); }
std::string sample_line(const PointEnd& end) { return record_line("point_end", end); }
std::string sample_line(const BenchRow& row) { return record_line("bench_row", row); }

std::string to_json(const Run& run, int indent) { return dump(to_object(run), indent); }
std::string to_json_complete(const Run& run, int indent) { return dump(complete(run), indent); }

Run parse_run(std::string_view text, const std::string& file) {
  const Place place{file, 0, 0};
  const Json object = parse(text);
  if (!object.is_object()) {
    complain(place, "is no JSON object", damaged);
  }
  check_version(object, place);
  return from_object<Run>(object, place);
}

bool add_sample(std::string_view line, const std::string& file, int line_number, Run& run) {
  const Json object = parse(line);
  if (!object.is_object()) return false;
  const Place place{file, line_number, 0};
  const auto at = object.find("record");
  const std::string record = at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
  if (record == "block") {
    run.blocks.push_back(from_object<Block>(object, place));
    check_point(run.blocks.back().point, run, place);
  } else if (record == "point_end") {
    run.ends.push_back(from_object<PointEnd>(object, place));
    check_point(run.ends.back().point, run, place);
  } else if (record == "bench_row") {
    run.rows.push_back(from_object<BenchRow>(object, place));
  } else {
    complain(place, "unknown record '" + record + "'", "known are block, point_end and bench_row");
  }
  return true;
}

std::vector<TraceEvent> parse_trace(std::string_view text, const std::string& file) {
  const Json object = parse(text);
  const Place place{file, 0, 0};
  if (!object.is_object() || !object.contains("traceEvents") || !object["traceEvents"].is_array()) {
    complain(place, "is no Chrome trace", "remove it, or run again");
  }
  std::vector<TraceEvent> events;
  for (const Json& item : object["traceEvents"]) {
    if (!item.is_object() || item.value("ph", "") != "X" || !item.contains("args")) continue;
    const Json& arguments = item["args"];
    TraceEvent event;
    const Reader reader(item, place);
    reader("pid", event.rank);
    reader("name", event.name);
    reader("ts", event.begin_us);
    reader("dur", event.duration_us);
    const Reader details(arguments, place);
    details("lane", event.lane);
    details("label", event.name);
    details("step", event.step);
    details("index", event.index);
    details("bytes", event.bytes);
    events.push_back(std::move(event));
  }
  return events;
}

Run with_texts(const Run& run, const std::function<std::string(const std::string&, const std::string&)>& scrub) {
  Json object = complete(run);
  scrub_texts(object, "", scrub);
  const Place place;
  Run clean = from_object<Run>(object, place);
  clean.blocks = vector_of<Block>(object["blocks"], place);
  clean.ends = vector_of<PointEnd>(object["point_ends"], place);
  clean.rows = vector_of<BenchRow>(object["bench_rows"], place);
  clean.trace = run.trace;
  return clean;
}

}  // namespace ringmaster::result
