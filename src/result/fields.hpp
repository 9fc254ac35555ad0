// SPDX-License-Identifier: Apache-2.0
// The keys of the schema, once: the same list writes and reads every type. Internal to `result`.
//
// An archive is called as archive(key, member) for each member; keys carry their unit (docs/results.md). A new member
// needs one line here and one row in docs/results.md.
#pragma once

#include <concepts>
#include <type_traits>

#include "result/schema.hpp"

namespace ringmaster::result {

template <class T, class U>
concept Is = std::same_as<std::remove_const_t<T>, U>;

template <class Archive, Is<Machine> T>
void fields(Archive& archive, T& machine) {
  archive("hosts", machine.hosts);
  archive("processor", machine.processor);
  archive("processing_units", machine.processing_units);
  archive("rank_processing_units", machine.rank_processing_units);
  archive("memory_gb", machine.memory_gb);
  archive("topology", machine.topology);
  archive("versions", machine.versions);
  archive("mpi_settings", machine.mpi_settings);
  archive("environment", machine.environment);
}

template <class Archive, Is<Ceilings> T>
void fields(Archive& archive, T& ceilings) {
  archive("gemm_gflop_per_s", ceilings.gemm_gflop_per_s);
  archive("copy_gb_per_s", ceilings.copy_gb_per_s);
  archive("pingpong_us", ceilings.pingpong_us);
  archive("link_gb_per_s", ceilings.link_gb_per_s);
}

template <class Archive, Is<Interruption> T>
void fields(Archive& archive, T& interruption) {
  archive("rank", interruption.rank);
  archive("host", interruption.host);
  archive("signal_or_error", interruption.signal_or_error);
  archive("activity", interruption.activity);
}

template <class Archive, Is<Point> T>
void fields(Archive& archive, T& point) {
  archive("point", point.id);
  archive("name", point.name);
  archive("workload", point.workload);
  archive("variant", point.variant);
  archive("role", point.role);
  archive("settings", point.settings);
  archive("what_runs", point.what_runs);
  archive("same_as", point.same_as);
  archive("skipped", point.skipped);
  archive("ranks", point.ranks);
  archive("parameters", point.parameters);
  archive("gradient_bytes", point.gradient_bytes);
  archive("buckets", point.buckets);
  archive("messages_per_step", point.messages_per_step);
  archive("wire_bytes_per_step", point.wire_bytes_per_step);
  archive("flops_per_step", point.flops_per_step);
  archive("samples_per_step", point.samples_per_step);
  archive("data_hash", point.data_hash);
  archive("unigram_entropy_nats", point.unigram_entropy);
  archive("overlap", point.overlap);
  archive("engine", point.engine);
}

template <class Archive, Is<Block> T>
void fields(Archive& archive, T& block) {
  archive("point", block.point);
  archive("round", block.round);
  archive("attempt", block.attempt);
  archive("warmup", block.warmup);
  archive("first_step", block.first_step);
  archive("step_us", block.step_us);
  archive("loss", block.loss);
  archive.by_account("accounts_us", block.accounts_us);
  archive("hidden_us", block.hidden_us);
  archive("communication_us", block.communication_us);
  archive("queueing_us", block.queueing_us);
  archive("bucket_transfer_us", block.bucket_transfer_us);
  archive("involuntary_switches", block.involuntary_switches);
  archive("note", block.note);
}

template <class Archive, Is<PointEnd> T>
void fields(Archive& archive, T& end) {
  archive("point", end.point);
  archive("held_out_loss", end.held_out_loss);
  archive("final_loss", end.final_loss);
  archive("parameters_equal", end.parameters_equal);
  archive("parameter_hash", end.parameter_hash);
}

template <class Archive, Is<BenchRow::Side> T>
void fields(Archive& archive, T& side) {
  archive("time_us", side.samples_us);
  archive("transfer_us", side.transfer_us);
  archive("skew_us", side.skew_us);
  archive("wrong", side.wrong);
}

template <class Archive, Is<BenchRow> T>
void fields(Archive& archive, T& row) {
  archive("variant", row.variant);
  archive("role", row.role);
  archive("what_runs", row.what_runs);
  archive("same_as", row.same_as);
  archive("skipped", row.skipped);
  archive("size_bytes", row.bytes);
  archive("count", row.count);
  archive("type", row.type);
  archive("reduction", row.reduction);
  archive("out_of_place", row.out_of_place);
  archive("in_place", row.in_place);
}

/// All but samples and trace.
template <class Archive, Is<Run> T>
void fields(Archive& archive, T& run) {
  archive("schema_version", run.version);
  archive("kind", run.kind);
  archive("name", run.name);
  archive("status", run.status);
  archive("started", run.started);
  archive("ended", run.ended);
  archive("revision", run.revision);
  archive("config_hash", run.config_hash);
  archive("arguments", run.arguments);
  archive("ranks", run.ranks);
  archive("device", run.device);
  archive("stamps", run.stamps);
  archive("interruptions", run.interruptions);
  archive("machine", run.machine);
  archive("ceilings", run.ceilings);
  archive("clock_residual_us", run.clock_residual_us);
  archive("event_cost_ns", run.event_cost_ns);
  archive("unigram_entropy_nats", run.unigram_entropy);
  archive("data", run.data);
  archive("points", run.points);
  archive("config", run.config_text);
}

}  // namespace ringmaster::result
