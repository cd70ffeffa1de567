#pragma once

#include <map>
#include <optional>

#include "analysis/device/copies.h"
#include "analysis/device/idle.h"
#include "analysis/device/kernels.h"
#include "analysis/device/launches.h"
#include "analysis/device/profiler_overhead.h"
#include "analysis/host/ops.h"
#include "analysis/schema/device_fields.h"
#include "analysis/steps/step_profile.h"
#include "analysis/steps/steps.h"
#include "base/field_kinds.h"

// The fields of schema 1 (docs/json.md) of a trace's tables, to write and to read, as in
// device_fields.h. Each function adds members to the object that is open.
namespace tacho::schema {

template <typename Out>
constexpr bool kReads = std::remove_cvref_t<Out>::kReads;

// Whether a field that may be absent is there: when reading, by the input; when writing, by `has`.
template <typename Out>
bool IsThere(const Out& out, std::string_view key, bool has) {
  if constexpr (kReads<Out>) return out.Has(key);
  return has;
}

void Stats(auto& out, auto& stats) {
  out.Fields("count", stats.count, "total_ns", stats.total, "min_ns", stats.min, "max_ns",
             stats.max, "p50_ns", stats.p50, "p90_ns", stats.p90, "p99_ns", stats.p99);
}

// `short_name` gives the short name of a row.
void Kernels(auto& out, auto& kernels, const auto& short_name) {
  out.Rows("kernels", kernels.rows, [&](auto& row) {
    out.Fields("name", row.name, "short_name", Derived(short_name(row)), "category", row.category,
               "device", row.device);
    Stats(out, row.stats);
    if constexpr (kReads<decltype(out)>) kernels.total += row.stats.total;
  });
  Categories(out, kernels.categories);
  if (IsThere(out, "classifier", !kernels.rows.empty())) {
    out.Row("classifier", "coverage", kernels.coverage);
    out.Field("kernels_shorter_than_10us", kernels.shorter_than_10us);
  }
}

void Copies(auto& out, auto& copies) {
  out.Rows("copies", copies.copies, [&](auto& row) {
    const auto rate = row.gigabytes_per_second();
    out.Fields("kind", row.kind, "count", row.count, "total_ns", row.total, "bytes", row.bytes,
               "gigabytes_per_second", Derived(rate), "pageable", row.pageable);
  });
  std::vector<MemsetRow> memsets(copies.memsets.count > 0 ? 1 : 0, copies.memsets);
  out.Rows("memsets", memsets, [&](auto& row) {
    out.Fields("count", row.count, "total_ns", row.total, "bytes", row.bytes);
  });
  if constexpr (kReads<decltype(out)>) {
    if (!memsets.empty()) copies.memsets = memsets.front();
  }
}

void Apis(auto& out, std::string_view key, auto& rows) {
  out.Rows(key, rows, [&](auto& row) {
    out.Field("name", row.name);
    Stats(out, row.stats);
  });
}

void Graphs(auto& out, auto& launches) {
  if (IsThere(out, "graph_calls", !launches.graphs.empty())) {
    out.BeginRow("graph_calls");
    Stats(out, launches.graph_calls);
    out.Fields("under_1ms", launches.graphs_under_1ms, "from_1_to_5ms", launches.graphs_1_to_5ms,
               "over_5ms", launches.graphs_over_5ms);
    out.End();
  }
  out.Rows("graphs", launches.graphs, [&](auto& graph) {
    out.Fields("start_ns", graph.call.start, "dur_ns", LengthOf(graph.call), "gpu_events",
               graph.gpu_events);
    if (IsThere(out, "work_start_ns", !graph.work.empty())) {
      out.Fields("work_start_ns", graph.work.start, "work_ns", LengthOf(graph.work));
    }
  });
}

void Overheads(auto& out, auto& overhead) {
  if (!IsThere(out, "profiler_ns", overhead.has_value())) return;
  if constexpr (kReads<decltype(out)>) overhead.emplace();
  out.Fields("launch_calls", overhead->calls, "launch_calls_ns", overhead->call_time,
             "profiler_calls", overhead->held_up, "profiler_ns", overhead->total);
  out.Rows("overheads", overhead->rows, [&](auto& row) {
    const std::string_view owner = OverheadOwnerName(KindOfOverhead(row.name).owner);
    out.Field("name", row.name);
    if (!kReads<decltype(out)> && !owner.empty()) out.Field("owner", Derived(owner));
    out.Fields("count", row.count, "total_ns", row.total);
  });
}

void Launches(auto& out, auto& launches) {
  const size_t graphs = launches.graphs.size();
  out.BeginObject("launches");
  out.Fields("gpu_events", launches.gpu_events, "with_launch", launches.with_launch,
             "without_launch", launches.without_launch, "without_correlation",
             launches.without_correlation, "graph_launches", Derived(graphs), "graph_gpu_events",
             launches.graph_gpu_events, "max_gpu_events_per_launch",
             launches.max_gpu_events_per_launch, "shorter_than_launch",
             launches.shorter_than_launch);
  if (IsThere(out, "delay", launches.delay.count > 0)) {
    out.BeginRow("delay");
    Stats(out, launches.delay);
    out.End();
  }
  Graphs(out, launches);
  out.Rows("queues", launches.queues, [&](auto& queue) {
    out.Fields("device", queue.device, "stream", queue.stream, "max", queue.max, "mean",
               queue.mean);
  });
  Apis(out, "apis", launches.apis);
  Apis(out, "other_apis", launches.other_apis);
  Overheads(out, launches.overhead);
  out.End();
}

void Memory(auto& out, auto& memory) {
  out.Fields("cpu_memory_total_bytes", memory.cpu_total, "cpu_memory_self_bytes", memory.cpu_self,
             "device_memory_total_bytes", memory.device_total, "device_memory_self_bytes",
             memory.device_self);
}

// `with_outermost` is false for key averages: their outermost times are the totals.
void Ops(auto& out, std::string_view key, auto& rows, bool with_outermost) {
  out.Rows(key, rows, [&](auto& row) {
    out.Fields("name", row.name, "shapes", UnlessIs(row.shapes, ""), "is_annotation",
               UnlessIs(row.annotation, false), "count", row.count, "cpu_total_ns", row.cpu_total,
               "cpu_self_ns", Signed(row.cpu_self), "device_total_ns", row.device_total,
               "device_self_ns", row.device_self, "flops", row.flops);
    if constexpr (kReads<decltype(out)>) {
      if (out.Has("cpu_memory_total_bytes")) row.memory.emplace();
      row.cpu_outermost = row.cpu_total;
      row.device_outermost = row.device_total;
    }
    if (row.memory) Memory(out, *row.memory);
    if (with_outermost) {
      out.Fields("cpu_outermost_ns", row.cpu_outermost, "device_outermost_ns",
                 row.device_outermost);
    }
  });
}

void OpTables(auto& out, auto& ops) {
  const auto unless_empty = [&](std::string_view key, auto& rows, bool with_outermost) {
    if (IsThere(out, key, !rows.empty())) Ops(out, key, rows, with_outermost);
  };
  Ops(out, "ops", ops.rows, true);
  unless_empty("ops_by_shape", ops.by_shape, true);
  unless_empty("key_averages", ops.key_averages.rows, false);
  unless_empty("key_averages_by_shape", ops.key_averages.by_shape, false);
}

// The totals of a StepTable.
struct StepSums {
  std::map<Phase, uint64_t> by_phase;
  std::optional<int64_t> context_tokens, generation_tokens;
};
StepSums SumsOf(const StepTable& steps);

void Steps(auto& out, auto& steps) {
  const StepSums sums = SumsOf(steps);
  const size_t count = steps.steps.size();
  out.BeginObject("steps");
  out.Fields("method", steps.method, "count", Derived(count));
  out.BeginRow("by_phase");
  for (const auto& [phase, with] : sums.by_phase) out.Field(PhaseName(phase), Derived(with));
  out.End();
  out.Fields("context_tokens", Derived(sums.context_tokens), "generation_tokens",
             Derived(sums.generation_tokens));
  out.Rows("list", steps.steps, [&](auto& step) {
    auto& label = step.label;
    out.Fields("phase", ByName(label.phase, PhaseName, kPhaseCount), "start_ns", step.when.start,
               "dur_ns", LengthOf(step.when), "period_ns", step.period, "cut",
               UnlessIs(step.cut, false), "lost_work", UnlessIs(step.lost_work, false),
               "device_span_ns", step.device_span, "device_busy_ns", step.device_busy,
               "context_requests", UnlessIs(label.context_requests, -1), "context_tokens",
               UnlessIs(label.context_tokens, -1), "generation_requests",
               UnlessIs(label.generation_requests, -1), "generation_tokens",
               UnlessIs(label.generation_tokens, -1));
  });
  out.End();
}

// Whether a profile that was read is consistent: its numbers are those of existing rows, its parts
// add up, and its batches match its rows.
bool IsConsistent(const StepProfile& profile, const std::vector<Step>& steps, size_t devices,
                  size_t kernels);

void StepParts(auto& out, auto& trace) {
  auto& profile = trace.step_profile;
  out.BeginObject("step_parts");
  out.List("parts", profile.parts);
  out.Rows("rows", profile.rows, [&](auto& row) {
    out.Fields("step", row.step, "device", row.device, "start_ns", row.when.start, "dur_ns",
               LengthOf(row.when));
    out.List("ns", row.ns);
  });
  out.Rows("batches", profile.batches, [&](auto& batch) {
    out.Fields("phase", ByName(batch.batch.phase, PhaseName, kPhaseCount), "most", batch.batch.most,
               "steps", batch.steps);
    out.Rows("kernels", batch.kernels, [&](auto& use) {
      out.Fields("kernel", use.kernel, "calls", use.calls, "total_ns", use.total, "deviation_ns",
                 use.deviation, "place", use.place);
    });
  });
  if constexpr (kReads<decltype(out)>) {
    if (!IsConsistent(profile, trace.steps.steps, trace.devices.size(), trace.kernels.rows.size()))
      out.Refuse("rows",
                 "parts that add up, and batches of steps, devices and kernels that are there");
  }
  out.End();
}

// Whether busy time and causes add up to the window.
bool AddsUp(const IdleTable& idle);

void Idle(auto& out, auto& idle) {
  if constexpr (kReads<decltype(out)>) {
    idle.known = out.Has("idle");
  }
  if (!idle.known) return;
  constexpr auto kCauses = static_cast<size_t>(IdleCause::kCount);
  out.BeginObject("idle");
  out.Fields("window_ns", idle.window, "busy_ns", idle.busy, "may_be_busy_ns",
             UnlessIs(idle.may_be_busy, DurationNs{}));
  if (IsThere(out, "requests", idle.requests != Requests::kUnknown))
    out.Field("requests", ByName(idle.requests, RequestsName, kRequestsCount));
  if (idle.requests == Requests::kKnown || idle.requests == Requests::kShared)
    out.Field("requests_uncertainty_ns", idle.requests_uncertainty);
  out.Rows("causes", idle.causes, [&](auto& row) {
    out.Fields("id", ByName(row.cause, IdleCauseId, kCauses), "ns", row.total, "count", row.count,
               "call", UnlessIs(row.call, ""));
  });
  if constexpr (kReads<decltype(out)>) {
    if (!AddsUp(idle)) out.Refuse("window_ns", "the busy time and all causes");
  }
  out.Rows("gaps", idle.gaps, [&](auto& gap) {
    out.Fields("device", gap.device, "start_ns", gap.when.start, "dur_ns", LengthOf(gap.when),
               "cause", ByName(gap.cause, IdleCauseId, kCauses), "before", UnlessIs(gap.before, ""),
               "after", UnlessIs(gap.after, ""), "host", UnlessIs(gap.host, ""),
               "host_is_annotation", UnlessIs(gap.host_is_annotation, false), "host_track",
               UnlessIs(gap.host_track, ""));
  });
  out.End();
}

}  // namespace tacho::schema
