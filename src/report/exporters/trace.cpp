// SPDX-License-Identifier: Apache-2.0
// Chrome's trace format for ui.perfetto.dev: a process a rank, the main lane as one track, the engine's transfers on as
// many tracks as overlap (events of one track must nest). Times in us from the first event. One event a line.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <vector>

#include "report/exporter.hpp"

namespace ringmaster::report {
namespace {

using Json = nlohmann::ordered_json;
using result::TraceEvent;

constexpr int first_engine_track = 10;

std::string shown_name(const TraceEvent& event) {
  if (event.index < 0) return event.name;
  const bool bucket =
      event.name == "bucket_transfer" || event.name == "bucket_enqueued" || event.name == "exposed_wait";
  return event.name + (bucket ? " of bucket " : " of layer ") + std::to_string(event.index);
}

Json metadata(const char* what, int rank, int track, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", rank}, {"tid", track}, {"args", {{"name", name}}}};
}

Json complete_event(const TraceEvent& event, int track, double origin_us) {
  return {{"ph", "X"},
          {"name", shown_name(event)},
          {"cat", event.lane},
          {"pid", event.rank},
          {"tid", track},
          {"ts", event.begin_us - origin_us},
          {"dur", event.duration_us},
          {"args",
           {{"lane", event.lane},
            {"label", event.name},
            {"step", event.step},
            {"index", event.index},
            {"bytes", event.bytes}}}};
}

/// The lowest track of the rank that is free at the event's begin.
int engine_track(std::vector<double>& free_at, const TraceEvent& event) {
  std::size_t track = 0;
  while (track < free_at.size() && free_at[track] > event.begin_us) ++track;
  if (track == free_at.size()) free_at.push_back(0);
  free_at[track] = event.begin_us + event.duration_us;
  return first_engine_track + static_cast<int>(track);
}

class Lines {
 public:
  explicit Lines(std::ostream& out) : out_(out) { out_ << "{\"displayTimeUnit\":\"ms\",\"traceEvents\":["; }
  void add(const Json& event) {
    out_ << (first_ ? "\n" : ",\n") << event.dump(-1, ' ', false, Json::error_handler_t::replace);
    first_ = false;
  }
  void end() { out_ << "\n]}\n"; }

 private:
  std::ostream& out_;
  bool first_ = true;
};

void write(const result::Run& run, const ExportOptions&, std::ostream& out) {
  std::vector<const TraceEvent*> events;
  double origin_us = 0;
  for (const TraceEvent& event : run.trace) {
    if (events.empty() || event.begin_us < origin_us) origin_us = event.begin_us;
    events.push_back(&event);
  }
  // Enclosing events before those inside them.
  std::stable_sort(events.begin(), events.end(), [](const TraceEvent* a, const TraceEvent* b) {
    return a->begin_us != b->begin_us ? a->begin_us < b->begin_us : a->duration_us > b->duration_us;
  });
  Lines lines(out);
  std::set<int> ranks;
  std::map<int, std::vector<double>> engines;
  for (const TraceEvent* event : events) {
    if (ranks.insert(event->rank).second) {
      lines.add(metadata("process_name", event->rank, 0, "rank " + std::to_string(event->rank)));
      lines.add(metadata("thread_name", event->rank, 0, "main lane"));
    }
    std::vector<double>& free_at = engines[event->rank];
    const std::size_t before = free_at.size();
    const int track = event->lane == "main" ? 0 : engine_track(free_at, *event);
    if (free_at.size() > before)
      lines.add(metadata("thread_name", event->rank, track, "engine " + std::to_string(before)));
    lines.add(complete_event(*event, track, origin_us));
  }
  lines.end();
}

}  // namespace

const Exporter& trace_exporter() {
  static const Exporter exporter{"trace", "trace.json", "Chrome/Perfetto timeline of both lanes of every rank", write};
  return exporter;
}

}  // namespace ringmaster::report
