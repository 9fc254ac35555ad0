// SPDX-License-Identifier: Apache-2.0
// What each exporter writes, by pattern and by parsing it back.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "../result/temporary_folder.hpp"
#include "base/registry.hpp"
#include "base/text.hpp"
#include "made_run.hpp"
#include "report/exporter.hpp"
#include "result/store.hpp"

namespace ringmaster::report {
namespace {

using Json = nlohmann::json;

std::string written(const char* name, const result::Run& run, int width = 120, bool color = false) {
  std::ostringstream out;
  ExportOptions options;
  options.width = width;
  options.color = color;
  require_entry(exporters(), name, "format").write(run, options, out);
  return out.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// %n is a number, %v a verdict; everything else stands as it is, runs of blanks are one.
std::regex pattern(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "%n") == 0) {
      out += "-?[0-9]+(\\.[0-9]+)?";
      ++i;
    } else if (text.compare(i, 2, "%v") == 0) {
      out += "([0-9.]+x (faster|slower)|no difference) \\[[0-9.]+, [0-9.]+\\]";
      ++i;
    } else if (text[i] == ' ') {
      out += " +";
      while (i + 1 < text.size() && text[i + 1] == ' ') ++i;
    } else {
      if (std::string("[]().^$*+?{}|\\").find(text[i]) != std::string::npos) out += '\\';
      out += text[i];
    }
  }
  return std::regex(out);
}

void expect_line(const std::string& text, const std::string& like) {
  const std::regex expected(pattern(like));
  for (const std::string& line : lines_of(text)) {
    if (std::regex_search(line, expected)) return;
  }
  ADD_FAILURE() << "no line like \"" << like << "\" in\n" << text;
}

void add_trace(result::Run& run) {
  for (int rank = 0; rank < 2; ++rank) {
    const double base = 1e9;
    run.trace.push_back({rank, "main", "step", base, 1000, 3, -1, 0});
    run.trace.push_back({rank, "main", "forward", base + 10, 300, 3, 0, 0});
    run.trace.push_back({rank, "main", "backward", base + 310, 600, 3, 0, 0});
    run.trace.push_back({rank, "main", "progress", base + 400, 10, 3, -1, 0});
    run.trace.push_back({rank, "main", "bucket_enqueued", base + 420, 0, 3, 0, 4096});
    run.trace.push_back({rank, "engine", "bucket_transfer", base + 420, 200, 3, 0, 4096});
    run.trace.push_back({rank, "engine", "bucket_transfer", base + 500, 250, 3, 1, 4096});
  }
}

result::Run hostile_run() {
  result::Run run = whole_made_run().run;
  const std::string evil = "</title><script>alert('x')</script>\"&\x1b[2J\r\n=1+1,";
  run.name = evil;
  run.data = run.config_text = run.machine.processor = evil;
  run.stamps = {evil};
  run.machine.versions = {{evil, evil}};
  run.interruptions = {{1, evil, evil, evil}};
  for (result::Point& point : run.points) {
    point.workload += evil;
    point.variant += evil;
    point.name += evil;
    point.what_runs = evil;
  }
  run.points[3].skipped = evil;
  run.points[1].same_as = {evil};
  add_trace(run);
  for (result::TraceEvent& event : run.trace) event.name += event.name == "step" ? "" : evil;
  return run;
}

TEST(TerminalExporter, ShowsTimesVerdictsAndWhatLimits) {
  const std::string text = written("terminal", whole_made_run().run);
  expect_line(text, "ringmaster run made 2 ranks on 1 node, complete");
  expect_line(text,
              "loss %n -> %n, held out %n; unigram entropy of the data 3.300: the model knows more than letter counts");
  expect_line(text, "variant step ms 95 % interval against the library");
  expect_line(text, "mpi_allreduce %n [%n, %n] (the library)");
  expect_line(text, "ring = direct %n [%n, %n] %v");
  expect_line(text, "communication over twin ms hidden % algbw busbw held out");
  expect_line(text, "ring = direct %n %n %n %n %n");
  expect_line(text, "no communication %n [%n, %n]");
  expect_line(text, "one rank %n [%n, %n]");
  expect_line(text, "data fwd bwd skew xfer opt other");
  expect_line(text, "without communication a step takes %n ms: mpi_allreduce pays %n");
  expect_line(text, "scaling efficiency against one rank: mpi_allreduce %n %, ring = direct %n %, tree %n %");
  expect_line(text, "- ring = direct ran as ring (as made up)");
  expect_line(text, "variants joined by = are the same schedule at 2 ranks");
  expect_line(text, "ring = direct wins: %n");
  expect_line(text, "What limits wide-mlp");
  expect_line(text, "1. communication is exposed: %n ms of a %n ms step (%n %)");
  expect_line(text, "change: communication.collective: ring");
  expect_line(text, "the books balance: at most %n % of a step is unaccounted");
  expect_line(text, "clocks of all ranks agree to %n us");
}

TEST(TerminalExporter, FitsTheWidth) {
  result::Run run = whole_made_run().run;
  run.points[0].variant = "a_library_with_a_name_that_is_longer_than_any_column_should_be";
  add_trace(run);
  for (const int width : {80, 90, 100, 120}) {
    for (const std::string& line : lines_of(written("terminal", run, width))) {
      EXPECT_LE(display_width(line), static_cast<std::size_t>(width)) << line;
    }
  }
}

TEST(TerminalExporter, IsPlainAsciiUnlessColourIsAsked) {
  const result::Run run = whole_made_run().run;
  for (const char c : written("terminal", run)) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
  EXPECT_FALSE(contains(written("terminal", run), "\x1b"));
  const std::string colored = written("terminal", run, 120, true);
  EXPECT_TRUE(contains(colored, "\x1b[32m"));
  EXPECT_EQ(std::regex_replace(colored, std::regex("\x1b\\[[0-9;]*m"), ""), written("terminal", run));
}

TEST(TerminalExporter, TheBarIsAsLongAsItsShares) {
  for (const std::string& line : lines_of(written("terminal", whole_made_run().run))) {
    std::smatch found;
    if (!std::regex_search(line, found, std::regex("(D*F+B+s*x*O+-*) +[0-9.]+ +([0-9]+) +([0-9]+)"))) continue;
    const std::string bar = found[1];
    const auto forward = static_cast<double>(std::count(bar.begin(), bar.end(), 'F'));
    EXPECT_NEAR(100 * forward / static_cast<double>(bar.size()), std::stod(found[2]),
                100.0 / static_cast<double>(bar.size()));
    return;
  }
  ADD_FAILURE() << "no bar";
}

TEST(TerminalExporter, SaysWhenTheBooksDoNotBalance) {
  MadeRun made;
  made.add("w", "ring", "variant");
  made.rounds(MadeStep());
  for (result::Block& block : made.run.blocks) {
    for (auto& rank : block.accounts_us) rank.back() = 5000;
    for (double& us : block.step_us) us += 5000;
  }
  expect_line(written("terminal", made.run), "the books DO NOT BALANCE: at most 4.6 % of a step is unaccounted");
}

TEST(TerminalExporter, NamesStampsInterruptionsAndWhatDidNotRun) {
  result::Run run = whole_made_run().run;
  run.stamps = {"oversubscribed: not a performance result"};
  run.status = "interrupted";
  run.interruptions = {{1, "beta", "SIGTERM", "point ring, step 3"}};
  run.points[2].skipped = "needs 3 ranks, this job has 2";
  const std::string text = written("terminal", run);
  expect_line(text, "! oversubscribed: not a performance result");
  expect_line(text, "! interrupted: rank 1 on beta: SIGTERM: was in point ring, step 3");
  expect_line(text, "- wide-mlp/tree: needs 3 ranks, this job has 2");
}

TEST(TerminalExporter, LetsNoNameMoveTheCursor) {
  const std::string text = written("terminal", hostile_run());
  EXPECT_FALSE(contains(text, "\x1b"));
  EXPECT_FALSE(contains(text, "\r"));
}

TEST(TerminalExporter, LetsNoTextOfABenchMoveTheCursor) {
  const std::string evil = "\x1b[2J\r";
  result::BenchRow row;
  row.variant = row.what_runs = row.type = evil;
  row.same_as = {evil};
  row.bytes = 4;
  row.count = 1;
  result::Run run;
  run.kind = "bench";
  run.ranks = 2;
  run.rows = {row};
  row.skipped = evil;
  run.rows.push_back(row);
  const std::string text = written("terminal", run);
  EXPECT_FALSE(contains(text, "\x1b"));
  EXPECT_FALSE(contains(text, "\r"));
}

TEST(TerminalExporter, WritesBenchInTheColumnsOfNcclTests) {
  result::Run run;
  run.kind = "bench";
  run.ranks = 4;
  result::BenchRow row;
  row.variant = "ring";
  row.what_runs = "ring over mpi";
  row.bytes = 1'048'576;
  row.count = 262'144;
  row.type = "float";
  row.out_of_place = {{1000, 1000, 1000}, {}, {}, 0};
  row.in_place = {{500, 500, 500}, {}, {}, 0};
  run.rows = {row};
  const std::string text = written("terminal", run);
  expect_line(text, "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong");
  expect_line(text, "# (B) (elements) (us) (GB/s) (GB/s) (us) (GB/s) (GB/s)");
  expect_line(text, " 1048576 262144 float sum -1 1000.00 1.05 1.57 0 500.00 2.10 3.15 0");
  expect_line(text, "# Out of bounds values : 0 OK");
  expect_line(text, "# Avg bus bandwidth : 2.359");
  run.rows[0].in_place.wrong = 3;
  expect_line(written("terminal", run), "# Out of bounds values : 3 FAILED");
  run.rows.push_back(run.rows[0]);
  run.rows[1].bytes *= 2;
  run.rows[1].what_runs = "something else";
  expect_line(written("terminal", run), "# from here: something else");
}

/// RFC 4180.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row{""};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      row.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      row.emplace_back();
    } else if (!quoted && c == '\r' && text[i + 1] == '\n') {
      rows.push_back(row);
      row = {""};
      ++i;
    } else {
      row.back() += c;
    }
  }
  return rows;
}

TEST(CsvExporter, HasARowAPointUnderFixedColumns) {
  const auto rows = parse_csv(written("csv", whole_made_run().run));
  ASSERT_EQ(rows.size(), 7U);
  std::map<std::string, std::string> ring;
  for (std::size_t i = 0; i < rows[0].size(); ++i) ring[rows[0][i]] = rows[2][i];
  EXPECT_EQ(ring["point"], "wide-mlp/ring");
  EXPECT_EQ(ring["label"], "ring = direct");
  EXPECT_NEAR(std::stod(ring["step_us"]), 103e3, 1e3);
  EXPECT_NEAR(std::stod(ring["exposed_transfer_share"]), 0.078, 0.002);
  EXPECT_EQ(ring["verdict"].rfind("1.31x faster", 0), 0U);
  EXPECT_EQ(ring["rounds"], "15");
  EXPECT_EQ(rows[0][0], "workload");
}

TEST(CsvExporter, QuotesWhatNeedsIt) {
  const result::Run run = hostile_run();
  const auto rows = parse_csv(written("csv", run));
  ASSERT_EQ(rows.size(), 7U);
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  EXPECT_EQ(rows[1][1], run.points[0].name);
}

TEST(JsonExporter, HoldsSamplesSummaryAndLimits) {
  const result::Run run = whole_made_run().run;
  const Json json = Json::parse(written("json", run));
  EXPECT_EQ(json["schema_version"], result::schema_version);
  EXPECT_EQ(json["blocks"].size(), run.blocks.size());
  const Json& ring = json["summary"]["points"][1];
  EXPECT_EQ(ring["name"], "wide-mlp/ring");
  EXPECT_NEAR(ring["step_us"].get<double>(), 103e3, 1e3);
  EXPECT_TRUE(ring["against_library"]["interval"].is_array());
  EXPECT_FALSE(json["summary"]["points"][0].contains("against_library")) << "the library is not judged";
  const Json& workload = json["summary"]["workloads"][0];
  EXPECT_EQ(workload["winner"], "wide-mlp/ring");
  EXPECT_EQ(workload["limits"][0]["cause"], "communication");
}

TEST(JsonExporter, EveryKeyOfASizeOrTimeCarriesItsUnit) {
  const Json json = Json::parse(written("json", whole_made_run().run));
  const std::set<std::string> bare{"time",  "bandwidth", "algbw",  "busbw",  "size",
                                   "bytes", "latency",   "memory", "entropy"};
  const std::function<void(const Json&)> visit = [&](const Json& value) {
    if (!value.is_structured()) return;
    for (const auto& [key, inner] : value.items()) {
      EXPECT_TRUE(!value.is_object() || bare.count(key) == 0) << key;
      visit(inner);
    }
  };
  visit(json);
}

TEST(JsonExporter, WritesHostileNamesAsTheyAre) {
  const result::Run run = hostile_run();
  EXPECT_EQ(Json::parse(written("json", run))["name"], run.name);
}

TEST(HtmlExporter, EscapesEveryNameAndLoadsNothing) {
  const std::string html = written("html", hostile_run());
  EXPECT_FALSE(contains(html, "<script"));
  EXPECT_FALSE(contains(html, "alert('x')"));
  EXPECT_TRUE(contains(html, "&lt;script&gt;alert(&#39;x&#39;)"));
  EXPECT_FALSE(contains(html, "\x1b"));
  for (const char* outside : {"http:", "https:", "src=", "href=", "url(", "@import", "<link", "<iframe"}) {
    EXPECT_FALSE(contains(html, outside)) << outside;
  }
}

// Every tag that opens closes, in order.
TEST(HtmlExporter, IsWellFormed) {
  for (result::Run run : {whole_made_run().run, hostile_run()}) {
    add_trace(run);
    const std::string html = written("html", run);
    const std::set<std::string> empty{"meta", "br", "!DOCTYPE"};
    std::vector<std::string> open;
    const std::regex tag("<(/?)([!A-Za-z0-9]+)([^<>]*?)(/?)>");
    for (auto at = std::sregex_iterator(html.begin(), html.end(), tag); at != std::sregex_iterator(); ++at) {
      const std::string name = (*at)[2];
      if (empty.count(name) != 0 || (*at)[4].length() != 0) continue;
      if ((*at)[1].length() == 0) {
        open.push_back(name);
        continue;
      }
      ASSERT_FALSE(open.empty()) << name;
      EXPECT_EQ(open.back(), name);
      open.pop_back();
    }
    EXPECT_TRUE(open.empty());
    EXPECT_FALSE(contains(html, "nan"));
  }
}

TEST(HtmlExporter, ShowsChartsTablesAndLimits) {
  result::Run run = whole_made_run().run;
  add_trace(run);
  const std::string html = written("html", run);
  for (const char* part : {"<svg", "<polyline", "unigram entropy 3.300", "ring = direct", "What limits it", "rank 1",
                           "One step, rank by rank"}) {
    EXPECT_TRUE(contains(html, part)) << part;
  }
}

TEST(HtmlExporter, ABenchShowsBothSidesAndItsVerdicts) {
  result::Run run;
  run.kind = "bench";
  run.ranks = 4;
  for (const auto& [variant, us] : {std::pair("library", 200.0), std::pair("ring", 100.0)}) {
    result::BenchRow row;
    row.variant = variant;
    row.role = row.variant == "library" ? "baseline" : "variant";
    row.bytes = 1024;
    for (int round = 0; round < 16; ++round) {
      row.out_of_place.samples_us.push_back(us + 50 + round % 3);
      row.in_place.samples_us.push_back(us + round % 3);
    }
    run.rows.push_back(row);
  }
  run.rows.emplace_back();
  run.rows.back().variant = "torus";
  run.rows.back().skipped = "needs two factors";
  const std::string html = written("html", run);
  for (const char* part : {"<td>151.00</td>", "<td>101.00</td>", "class=\"left good\">1.99x faster",
                           "torus was not run: needs two factors"}) {
    EXPECT_TRUE(contains(html, part)) << part << "\n" << html;
  }
}

TEST(TraceExporter, IsValidAndNestsOnEveryTrack) {
  result::Run run = whole_made_run().run;
  add_trace(run);
  const Json json = Json::parse(written("trace", run));
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> tracks;
  int events = 0;
  std::set<int> named;
  for (const Json& event : json["traceEvents"]) {
    if (event["ph"] == "M") {
      if (event["name"] == "process_name") named.insert(event["pid"].get<int>());
      continue;
    }
    ++events;
    EXPECT_EQ(event["ph"], "X");
    EXPECT_GE(event["ts"].get<double>(), 0);
    EXPECT_GE(event["dur"].get<double>(), 0);
    const double begin = event["ts"];
    const double end = begin + event["dur"].get<double>();
    auto& stack = tracks[{event["pid"].get<int>(), event["tid"].get<int>()}];
    while (!stack.empty() && stack.back().second <= begin) stack.pop_back();
    EXPECT_TRUE(stack.empty() || end <= stack.back().second) << event.dump();
    stack.emplace_back(begin, end);
  }
  EXPECT_EQ(events, 14);
  EXPECT_EQ(named, (std::set<int>{0, 1}));
  EXPECT_EQ(tracks.size(), 6U) << "a main lane and two engine tracks a rank: two transfers overlap";
}

TEST(TraceExporter, ComesBackThroughTheStore) {
  const TemporaryFolder temporary;
  result::Run run = whole_made_run().run;
  add_trace(run);
  result::Store store = result::Store::create(temporary.path("run"), false);
  store.write(run);
  store.write_file("trace.json", written("trace", run));
  const result::Run back = result::read_run(temporary.path("run"));
  ASSERT_EQ(back.trace.size(), run.trace.size());
  EXPECT_EQ(written("trace", back), written("trace", run));
  EXPECT_EQ(back.trace[0].name, "step");
  EXPECT_EQ(back.trace[0].lane, "main");
}

}  // namespace
}  // namespace ringmaster::report
