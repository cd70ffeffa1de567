#pragma once

#include "analysis/analyze.h"
#include "analysis/schema/graph_fields.h"
#include "analysis/schema/integrity_fields.h"
#include "analysis/schema/layer_fields.h"
#include "analysis/schema/memory_fields.h"
#include "analysis/schema/opportunity_fields.h"
#include "analysis/schema/roofline_fields.h"
#include "analysis/schema/source_fields.h"
#include "analysis/schema/speculation_fields.h"
#include "analysis/schema/table_fields.h"

// The fields of schema 1 (docs/json.md) for a trace and for a run. conditions.h explains `out`.
namespace tacho::schema {

// Goes up when a field is removed or changes its meaning.
inline constexpr int kVersion = 1;

// One row for each note id.
std::vector<Note> RowsOf(const Notes& notes);
void Set(const std::vector<Note>& rows, Notes& notes);
std::string_view NoteName(NoteId id);

// In the form "8.9".
std::string ComputeCapability(const DeviceProperties& device);
void SetComputeCapability(std::string_view text, DeviceProperties& device);

void Span(auto& out, auto& span) {
  if constexpr (!kReads<decltype(out)>) {
    if (!Holds(out, span.end >= span.start && span != Interval{})) return;
  }
  out.BeginRow(Key{"span", "time that all complete events cover; absent when there are none"});
  out.Field(Key{"first_ns", "first start"}, span.start);
  out.Field(Key{"last_ns", "last end"}, span.end);
  out.End();
  if constexpr (kReads<decltype(out)>) {
    if (span.end < span.start) span = {};  // tacho never writes such a span
  }
}

void NoteRows(auto& out, auto& notes) {
  std::vector<Note> rows = RowsOf(notes);
  out.Rows(Key{"notes", "defects of the data"}, rows, [&](auto& note) {
    out.Field(Key{"id", "stable name of the defect; docs/notes.md explains each"},
              ByName(note.id, NoteName, static_cast<size_t>(NoteId::kCount)));
    const NoteKind& kind = KindOf(note.id);
    const std::string_view remedy = RemedyOf(note.id, notes);
    out.Field(Key{"severity",
                  "weight: `info`, `notice` or `data-loss` (events are missing, totals are lower "
                  "bounds, exit status 4)"},
              Derived(ByName(kind.severity, SeverityName, kSeverityCount)));
    out.Field(Key{"count", "number of times that it occurred"}, note.count);
    out.Field(Key{"where", "the first place, e.g. `byte 468110`"}, UnlessIs(note.where, ""));
    out.Field(Key{"text", "meaning for the figures"}, Derived(kind.text));
    out.Field(Key{"remedy", "advice: what you can do"}, Derived(remedy));
  });
  if constexpr (kReads<decltype(out)>) Set(rows, notes);
}

// Counts by name. Printed adds up names that differ only in bytes that are not valid UTF-8.
using NamedCounts = std::vector<std::pair<std::string, uint64_t>>;
std::map<std::string, uint64_t> Printed(const NamedCounts& counts);
void Counts(auto& out, const Key& key, auto& counts) {
  out.BeginRow(key);
  if constexpr (kReads<decltype(out)> || kDescribes<decltype(out)>) {
    out.Counts(
        [&](std::string name, uint64_t count) { counts.emplace_back(std::move(name), count); });
  } else {
    for (const auto& [name, count] : Printed(counts)) out.Field(name, count);
  }
  out.End();
}

void Events(auto& out, auto& total, auto& by_phase, auto& by_category) {
  out.BeginObject(Key{"events", "counts of events"});
  out.Field(Key{"total", "number of all events"}, total);
  Counts(out, Key{"by_phase", "events by Chrome's phase letter"}, by_phase);
  Counts(out,
         Key{"by_category",
             "complete events (X) by category; category names of 2021 count under today's names; "
             "names that print the same are added up"},
         by_category);
  out.End();
}

// Only written, never read: it follows from the path and the facts of the trace.
void Identity(auto& out, const RankIdentity& identity) {
  const std::string name = identity.Name();
  if (!Holds(out, !name.empty())) return;
  out.BeginRow(
      Key{"identity", "worker and rank that wrote the trace, by its content, else by its name"});
  out.Field(Key{"name", "name on the screens: `w0 TP1 prefill`"}, name);
  out.Field(Key{"worker",
                "name of the worker, from the folder of the recording or from the key in the "
                "file's name"},
            UnlessIs(identity.worker, ""));
  out.Field(Key{"data_parallel", "number of its data-parallel engine, if there are several"},
            identity.data_parallel);
  out.Field(Key{"pipeline", "number of its pipeline stage, if there are several"},
            identity.pipeline);
  out.Field(
      Key{"tensor", "number within its tensor-parallel group, if the group has several ranks"},
      identity.tensor);
  out.Field(Key{"stage", "stage: `prefill` or `decode` for a file of one stage"},
            UnlessIs(identity.stage, ""));
  out.End();
}

// The fields that identify a trace.
void Header(auto& out, auto& trace) {
  auto& facts = trace.facts;
  out.Field(Key{"path",
                "path as given; `ARCHIVE:MEMBER` inside an archive; `FILE#pid=1234` if the file "
                "has several processes"},
            trace.path);
  out.Field(Key{"format", "format: `kineto`, or `nsys`: an export of Nsight Systems"},
            ByName(trace.header.format, TraceFormatName, kTraceFormatCount));
  out.Field(Key{"bytes", "size of the file as stored"}, trace.bytes);
  out.Field(Key{"first_of_file",
                "`false`: another trace of the run already counts the bytes of this file"},
            UnlessIs(trace.first_of_file, true));
  out.Field(Key{"json_bytes", "size after decompression"}, trace.json_bytes);
  out.Field(Key{"rank", "rank by the header, else by the process name"}, facts.rank);
  out.Field(Key{"world_size", "world size by the header, else by the process name"},
            facts.world_size);
  if constexpr (!kReads<decltype(out)>) Identity(out, facts.identity);
  out.Field(Key{"engine", "name of the engine: `vllm`, `sglang`, ..."}, UnlessIs(facts.engine, ""));
  out.Field(Key{"engine_version", "version of the engine, if the trace has it"},
            UnlessIs(facts.engine_version, ""));
  TimeNs base{trace.header.base_time_ns};
  if (IsThere(out, "base_time_ns", base.ns >= 0))
    out.Field(Key{"base_time_ns", "Unix time of 0 on the trace's clock"}, base);
  if constexpr (kReads<decltype(out)>) trace.header.base_time_ns = base.ns;
  out.Field(Key{"trace_id", "the id of the profiler's session in one process"},
            UnlessIs(trace.header.trace_id, ""));
  Span(out, trace.span);
}

void ScopeRow(auto& out, auto& scope) {
  if constexpr (kReads<decltype(out)>) {
    if (!out.Has("scope")) return;
  } else if (!Holds(out, scope.window || !scope.device.empty())) {
    return;
  }
  out.BeginRow(Key{"scope",
                   "part that was analysed, with `--window` or `--device`: all figures but events "
                   "and notes cover only this part"});
  if constexpr (kReads<decltype(out)>) {
    if (out.Has("start_ns")) scope.window.emplace();
  }
  if (Holds(out, scope.window.has_value())) {
    if constexpr (kDescribes<decltype(out)>) scope.window.emplace();
    out.Field(Key{"start_ns", "start of the window"}, scope.window->start);
    out.Field(Key{"end_ns", "end of the window"}, scope.window->end);
  }
  out.Field(Key{"device", "the only device analysed"}, UnlessIs(scope.device, ""));
  out.End();
}

void DeviceFacts(auto& out, auto& devices) {
  out.Rows(
      Key{"devices", "GPUs in the header, visible to the process, used or not"}, devices,
      [&](auto& device) {
        std::string capability = ComputeCapability(device);
        out.Field(Key{"id", "id of the device, as in `devices`"}, device.id);
        out.Field(Key{"name", "name of the product: `NVIDIA H200`"}, UnlessIs(device.name, ""));
        out.Field(Key{"total_memory_bytes", "memory of the device"},
                  UnlessIs(device.total_memory_bytes, 0));
        out.Field(Key{"num_sms", "number of multiprocessors"}, UnlessIs(device.num_sms, 0));
        out.Field(Key{"compute_capability", "compute capability: `9.0`"}, UnlessIs(capability, ""));
        if constexpr (kReads<decltype(out)>) SetComputeCapability(capability, device);
      });
}

void Facts(auto& out, auto& trace) {
  auto& header = trace.header;
  auto& facts = trace.facts;
  out.BeginObject(Key{"facts", "facts that the trace states about itself"});
  out.Field(Key{"role",
                "role of the process: `worker`: a rank; `frontend`: an API server or scheduler, "
                "which has no device work and says so; `merged`: several ranks in one file; "
                "`capture`: a recording of how graphs were captured when the engine started; "
                "`foreign`: a Chrome trace of another producer"},
            ByName(facts.role, TraceRoleName, kTraceRoleCount));
  out.Field(Key{"producer", "program that wrote a `foreign` trace, such as `VizTracer`"},
            UnlessIs(facts.producer, ""));
  out.Field(Key{"stage", "stage: `prefill` or `decode` for a file of one stage"},
            UnlessIs(facts.stage, ""));
  out.Field(Key{"backend", "the backend of torch.distributed"}, UnlessIs(header.backend, ""));
  out.Field(Key{"process_groups", "number of process groups"},
            UnlessIs(header.process_group_count, -1));
  out.Field(Key{"nccl_version", "version of NCCL in the header"},
            UnlessIs(header.nccl_version, ""));
  out.Field(Key{"cuda_runtime_version", "version of the CUDA runtime in the header; also HIP's"},
            UnlessIs(header.cuda_runtime_version, ""));
  out.Field(Key{"cuda_driver_version", "version of the CUDA driver in the header"},
            UnlessIs(header.cuda_driver_version, ""));
  out.Field(Key{"python_stacks", "`true`: Python frames were recorded, which slows the host"},
            UnlessIs(facts.python_stacks, false));
  out.List(Key{"process_names", "names of processes as the trace gives them"}, facts.process_names);
  out.List(Key{"pids", "ids of the processes that ran something"}, facts.pids);
  out.List(
      Key{"options", "the profiler's options that were on: `record_shapes`, `with_stack`, ..."},
      facts.options);
  out.List(Key{"cannot_tell", "questions that this trace cannot answer: \"..., because ...\""},
           facts.cannot_tell);
  out.List(Key{"producer_log", "warnings and errors of the profiler itself"}, header.producer_log);
  DeviceFacts(out, header.devices);
  out.End();
}

// All fields of a trace. `short_name` returns the short name of a kernel's row.
void TraceFields(auto& out, auto& trace, const auto& short_name) {
  Header(out, trace);
  ScopeRow(out, trace.scope);
  Events(out, trace.counts.total, trace.facts.by_phase, trace.facts.by_category);
  NoteRows(out, trace.notes);
  if (IsThere(out, "integrity", trace.integrity.lost.calls + trace.integrity.clocks.size() > 0))
    IntegrityFields(out, trace.integrity);
  Facts(out, trace);
  out.Objects(Key{"devices",
                  "devices, sorted by id; empty for a front end, a graph capture, a trace of "
                  "another producer, and a file whose ranks are mixed"},
              trace.devices, [&](auto& device) { Device(out, device); });
  Kernels(out, trace.kernels, short_name);
  Copies(out, trace.copies);
  Launches(out, trace.launches);
  OpTables(out, trace.ops);
  if (IsThere(out, "memory", !trace.memory.empty())) MemoryOverTime(out, trace.memory);
  if (IsThere(out, "steps", !trace.steps.method.empty())) Steps(out, trace.steps);
  if (IsThere(out, "step_parts", !trace.step_profile.rows.empty())) StepParts(out, trace);
  if (IsThere(out, "graphs", trace.graphs.launches > 0)) ReplayedGraphs(out, trace.graphs);
  if (IsThere(out, "layers", !trace.devices.empty())) Layers(out, trace.layers);
  if (IsThere(out, "opportunities",
              trace.layers.state == LayersState::kFound && !trace.devices.empty() &&
                  !trace.devices.front().on_host))
    Opportunities(out, trace.opportunities);
  if (IsThere(out, "speculation", trace.speculation.steps > 0))
    SpeculationFields(out, trace.speculation);
  if (IsThere(out, "roofline", trace.roofline.wanted())) RooflineFields(out, trace.roofline);
  if (IsThere(out, "gemms", !trace.ops.gemms.empty())) Gemms(out, trace.ops.gemms);
  const bool has_sources =
      trace.sources.state == SourcesState::kFound || !trace.sources.map.empty();
  if (IsThere(out, "sources", has_sources)) Sources(out, trace.sources);
  if (Holds(out, !trace.devices.empty())) Idle(out, trace.idle);
  out.Field(Key{"digest",
                "data for tacho itself, with `--digests`: results of single ranks then give, read "
                "together, the results of all"},
            UnlessIs(trace.digest_text, ""));
}

// Traces that are slices of one recording and overlap in time.
void Together(auto& out, auto& slices) {
  out.List(Key{"paths", "paths of the slices, as in `traces[]`"}, slices.paths);
  out.Objects(Key{"devices", "devices as in `traces[]`, for all slices as one trace"},
              slices.devices, [&](auto& device) { Device(out, device); });
  Idle(out, slices.idle);
}

}  // namespace tacho::schema
