#pragma once

#include "analysis/analyze.h"
#include "analysis/schema/integrity_fields.h"
#include "analysis/schema/memory_fields.h"
#include "analysis/schema/table_fields.h"

// The fields of schema 1 (docs/json.md) of one trace and of a run, to write and to read, as in
// device_fields.h.
namespace tacho::schema {

// Grows when a field is removed or changes its meaning.
inline constexpr int kVersion = 1;

// Notes by id, a row each.
std::vector<Note> RowsOf(const Notes& notes);
void Set(const std::vector<Note>& rows, Notes& notes);
std::string_view NoteName(NoteId id);

// "8.9"
std::string ComputeCapability(const DeviceProperties& device);
void SetComputeCapability(std::string_view text, DeviceProperties& device);

void Span(auto& out, auto& span) {
  if constexpr (!kReads<decltype(out)>) {
    if (span.end < span.start || span == Interval{}) return;
  }
  out.Row("span", "first_ns", span.start, "last_ns", span.end);
  if constexpr (kReads<decltype(out)>) {
    if (span.end < span.start) span = {};  // tacho writes no such span
  }
}

void NoteRows(auto& out, auto& notes) {
  std::vector<Note> rows = RowsOf(notes);
  out.Rows("notes", rows, [&](auto& note) {
    out.Field("id", ByName(note.id, NoteName, static_cast<size_t>(NoteId::kCount)));
    const NoteKind& kind = KindOf(note.id);
    const std::string_view severity = SeverityName(kind.severity);
    const std::string_view remedy = RemedyOf(note.id, notes);
    out.Fields("severity", Derived(severity), "count", note.count, "where",
               UnlessIs(note.where, ""), "text", Derived(kind.text), "remedy", Derived(remedy));
  });
  if constexpr (kReads<decltype(out)>) Set(rows, notes);
}

// Counts by name. Names that differ only in bytes that are not UTF-8 are one.
using NamedCounts = std::vector<std::pair<std::string, uint64_t>>;
std::map<std::string, uint64_t> Printed(const NamedCounts& counts);
void Counts(auto& out, std::string_view key, auto& counts) {
  out.BeginRow(key);
  if constexpr (kReads<decltype(out)>) {
    out.Counts(
        [&](std::string name, uint64_t count) { counts.emplace_back(std::move(name), count); });
  } else {
    for (const auto& [name, count] : Printed(counts)) out.Field(name, count);
  }
  out.End();
}

void Events(auto& out, auto& total, auto& by_phase, auto& by_category) {
  out.BeginObject("events");
  out.Field("total", total);
  Counts(out, "by_phase", by_phase);
  Counts(out, "by_category", by_category);
  out.End();
}

// The fields that identify a trace. The parts of an identity follow from the path and the facts.
void Header(auto& out, auto& trace) {
  auto& facts = trace.facts;
  out.Fields("path", trace.path, "format",
             ByName(trace.header.format, TraceFormatName, kTraceFormatCount), "bytes", trace.bytes,
             "first_of_file", UnlessIs(trace.first_of_file, true), "json_bytes", trace.json_bytes,
             "rank", facts.rank, "world_size", facts.world_size);
  const std::string name = facts.identity.Name();
  if (!kReads<decltype(out)> && !name.empty()) {
    out.Row("identity", "name", Derived(name), "worker", UnlessIs(facts.identity.worker, ""),
            "data_parallel", facts.identity.data_parallel, "pipeline", facts.identity.pipeline,
            "tensor", facts.identity.tensor, "stage", UnlessIs(facts.identity.stage, ""));
  }
  out.Fields("engine", UnlessIs(facts.engine, ""), "engine_version",
             UnlessIs(facts.engine_version, ""));
  TimeNs base{trace.header.base_time_ns};
  if (IsThere(out, "base_time_ns", base.ns >= 0)) out.Field("base_time_ns", base);
  if constexpr (kReads<decltype(out)>) trace.header.base_time_ns = base.ns;
  out.Field("trace_id", UnlessIs(trace.header.trace_id, ""));
  Span(out, trace.span);
}

void ScopeRow(auto& out, auto& scope) {
  if constexpr (kReads<decltype(out)>) {
    if (!out.Has("scope")) return;
  } else if (!scope.window && scope.device.empty()) {
    return;
  }
  out.BeginRow("scope");
  if constexpr (kReads<decltype(out)>) {
    if (out.Has("start_ns")) scope.window.emplace();
  }
  if (scope.window) out.Fields("start_ns", scope.window->start, "end_ns", scope.window->end);
  out.Field("device", UnlessIs(scope.device, ""));
  out.End();
}

void DeviceFacts(auto& out, auto& devices) {
  out.Rows("devices", devices, [&](auto& device) {
    std::string capability = ComputeCapability(device);
    out.Fields("id", device.id, "name", UnlessIs(device.name, ""), "total_memory_bytes",
               UnlessIs(device.total_memory_bytes, 0), "num_sms", UnlessIs(device.num_sms, 0),
               "compute_capability", UnlessIs(capability, ""));
    if constexpr (kReads<decltype(out)>) SetComputeCapability(capability, device);
  });
}

void Facts(auto& out, auto& trace) {
  auto& header = trace.header;
  auto& facts = trace.facts;
  out.BeginObject("facts");
  out.Fields("role", ByName(facts.role, TraceRoleName, kTraceRoleCount), "producer",
             UnlessIs(facts.producer, ""), "stage", UnlessIs(facts.stage, ""), "backend",
             UnlessIs(header.backend, ""), "process_groups",
             UnlessIs(header.process_group_count, -1), "nccl_version",
             UnlessIs(header.nccl_version, ""), "cuda_runtime_version",
             UnlessIs(header.cuda_runtime_version, ""), "cuda_driver_version",
             UnlessIs(header.cuda_driver_version, ""), "python_stacks",
             UnlessIs(facts.python_stacks, false));
  out.List("process_names", facts.process_names);
  out.List("pids", facts.pids);
  out.List("options", facts.options);
  out.List("cannot_tell", facts.cannot_tell);
  out.List("producer_log", header.producer_log);
  DeviceFacts(out, header.devices);
  out.End();
}

// All fields of a trace. `short_name` gives the short name of a row of its kernels.
void TraceFields(auto& out, auto& trace, const auto& short_name) {
  Header(out, trace);
  ScopeRow(out, trace.scope);
  Events(out, trace.counts.total, trace.facts.by_phase, trace.facts.by_category);
  NoteRows(out, trace.notes);
  if (IsThere(out, "integrity", trace.integrity.lost.calls + trace.integrity.clocks.size() > 0))
    IntegrityFields(out, trace.integrity);
  Facts(out, trace);
  out.Objects("devices", trace.devices, [&](auto& device) { Device(out, device); });
  Kernels(out, trace.kernels, short_name);
  Copies(out, trace.copies);
  Launches(out, trace.launches);
  OpTables(out, trace.ops);
  if (IsThere(out, "memory", !trace.memory.empty())) MemoryOverTime(out, trace.memory);
  if (IsThere(out, "steps", !trace.steps.method.empty())) Steps(out, trace.steps);
  if (IsThere(out, "step_parts", !trace.step_profile.rows.empty())) StepParts(out, trace);
  if (!trace.devices.empty()) Idle(out, trace.idle);
}

// Slices of one recording that overlap in time.
void Together(auto& out, auto& slices) {
  out.List("paths", slices.paths);
  out.Objects("devices", slices.devices, [&](auto& device) { Device(out, device); });
  Idle(out, slices.idle);
}

}  // namespace tacho::schema
