// SPDX-License-Identifier: Apache-2.0
#include "report/bench_summary.hpp"

#include <algorithm>

#include "report/samples.hpp"

namespace ringmaster::report {
namespace {

using Side = result::BenchRow::Side;

const result::BenchRow* library_at(const result::Run& run, std::int64_t bytes) {
  for (const result::BenchRow& row : run.rows) {
    if (row.role == "baseline" && row.bytes == bytes && row.skipped.empty()) return &row;
  }
  return nullptr;
}

void compare_side(const Side& library, const Side& mine, BenchSide& out) {
  const std::size_t rounds = std::min(library.samples_us.size(), mine.samples_us.size());
  out.against_library =
      compare_paired(std::span(library.samples_us).first(rounds), std::span(mine.samples_us).first(rounds));
}

}  // namespace

BenchSide summarize_side(const Side& side, std::int64_t bytes, int ranks) {
  BenchSide out;
  out.time_us = median(side.samples_us);
  out.transfer_us = median(side.transfer_us);
  out.skew_us = median(side.skew_us);
  out.verdict = "-";
  if (!(out.time_us > 0)) return out;
  out.algbw_gb_per_s = static_cast<double>(bytes) * 1e-3 / out.time_us;
  out.busbw_gb_per_s = allreduce_busbw(out.algbw_gb_per_s, ranks);
  return out;
}

std::vector<BenchSummary> summarize_bench(const result::Run& run) {
  std::vector<BenchSummary> summaries;
  for (const result::BenchRow& row : run.rows) {
    if (!row.skipped.empty()) continue;
    BenchSummary summary{&row, summarize_side(row.out_of_place, row.bytes, run.ranks),
                         summarize_side(row.in_place, row.bytes, run.ranks)};
    const result::BenchRow* library = library_at(run, row.bytes);
    if (library != nullptr && library != &row && row.role != "bound") {
      compare_side(library->out_of_place, row.out_of_place, summary.out_of_place);
      compare_side(library->in_place, row.in_place, summary.in_place);
    }
    summaries.push_back(std::move(summary));
  }
  std::vector<BenchSide*> compared;
  std::vector<double> p_values;
  for (BenchSummary& summary : summaries) {
    for (BenchSide* side : {&summary.out_of_place, &summary.in_place}) {
      if (side->against_library.rounds == 0) continue;
      compared.push_back(side);
      p_values.push_back(side->against_library.p_value);
    }
  }
  const std::vector<double> adjusted = holm(p_values);
  for (std::size_t i = 0; i < compared.size(); ++i) {
    compared[i]->verdict = verdict(compared[i]->against_library, adjusted[i]);
  }
  return summaries;
}

}  // namespace ringmaster::report
