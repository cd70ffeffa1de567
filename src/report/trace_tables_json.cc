#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/analyze_json.h"
#include "report/kernel_names.h"
#include "report/result_tables.h"
#include "text/distinct_text.h"

namespace tacho {
namespace {

void WriteStats(JsonWriter& json, const DurationStats& stats) {
  json.Fields("count", stats.count, "total_ns", stats.total, "min_ns", stats.min, "max_ns",
              stats.max, "p50_ns", stats.p50, "p90_ns", stats.p90, "p99_ns", stats.p99);
}

void WriteCategories(JsonWriter& json, const std::vector<CategoryRow>& categories) {
  json.Rows("categories", categories, [&](const CategoryRow& row) {
    json.Fields("category", row.category, "count", row.count, "total_ns", row.total);
  });
}

void WriteGraphs(JsonWriter& json, const LaunchTable& launches) {
  if (!launches.graphs.empty()) {
    json.BeginRow("graph_calls");
    WriteStats(json, launches.graph_calls);
    json.Fields("under_1ms", launches.graphs_under_1ms, "from_1_to_5ms", launches.graphs_1_to_5ms,
                "over_5ms", launches.graphs_over_5ms);
    json.End();
  }
  json.Rows("graphs", launches.graphs, [&](const GraphLaunch& graph) {
    json.Fields("start_ns", graph.call.start, "dur_ns", graph.call.length(), "gpu_events",
                graph.gpu_events);
    if (graph.gpu_events > 0) {
      json.Fields("work_start_ns", graph.work.start, "work_ns", graph.work.length());
    }
  });
}

void WriteDevice(JsonWriter& json, const DeviceTime& device) {
  json.BeginObject();
  json.Field("device", device.device);
  if (device.on_host) json.Field("on_host", true);
  json.Fields("gpu_events", device.gpu_events, "window_start_ns", device.window.start, "window_ns",
              device.window.length(), "busy_ns", device.busy, "idle_ns", device.idle, "compute_ns",
              device.compute, "exposed_comm_ns", device.exposed_comm, "exposed_copy_ns",
              device.exposed_copy, "kernel_sum_ns", device.kernel_sum, "kernel_busy_ns",
              device.kernel_busy, "comm_busy_ns", device.comm_busy, "copy_busy_ns",
              device.copy_busy);
  json.Row("gaps", "count", device.gaps.count, "over_1us", device.gaps.over_1us, "over_10us",
           device.gaps.over_10us, "over_100us", device.gaps.over_100us, "over_1ms",
           device.gaps.over_1ms, "largest_ns", device.gaps.largest);
  json.BeginArray("overlaps");
  for (size_t mask = 0; mask < device.by_kinds.size(); ++mask) {
    if (device.by_kinds[mask].ns == 0) continue;
    json.BeginRow();
    json.List("kinds", KindNames(mask));
    json.Field("ns", device.by_kinds[mask]);
    json.End();
  }
  json.End();
  json.BeginArray("concurrency");
  for (size_t running = 0; running < device.by_concurrency.size(); ++running) {
    if (device.by_concurrency[running].ns == 0) continue;
    json.BeginRow();
    json.Field("running", running);
    if (running + 1 == device.by_concurrency.size()) json.Field("or_more", true);
    json.Field("ns", device.by_concurrency[running]);
    json.End();
  }
  json.End();
  json.Rows("streams", device.streams, [&](const StreamTime& stream) {
    json.Fields("stream", stream.stream, "events", stream.events, "sum_ns", stream.sum, "busy_ns",
                stream.busy, "overlaps", stream.overlaps);
    for (size_t kind = 0; kind < kWorkKinds; ++kind) {
      json.Field(fmt::format("{}_ns", WorkKindName(static_cast<WorkKind>(kind))),
                 stream.by_kind[kind]);
    }
    WriteCategories(json, stream.categories);
  });
  json.End();
}

void WriteKernels(JsonWriter& json, const KernelTable& kernels) {
  json.BeginArray("kernels");
  std::vector<std::string_view> names;
  for (const KernelRow& row : kernels.rows) names.push_back(row.name);
  const std::vector<std::string> short_names =
      FitDistinct({names.begin(), names.end()}, ShownKernelNames(names, {}), kShortName, true);
  for (size_t i = 0; i < names.size(); ++i) {
    const KernelRow& row = kernels.rows[i];
    json.BeginRow();
    json.Fields("name", row.name, "short_name", short_names[i], "category", row.category, "device",
                row.device);
    WriteStats(json, row.stats);
    json.End();
  }
  json.End();
  WriteCategories(json, kernels.categories);
  if (!kernels.rows.empty()) {
    json.Row("classifier", "coverage", kernels.coverage);
    json.Field("kernels_shorter_than_10us", kernels.shorter_than_10us);
  }
}

void WriteCopies(JsonWriter& json, const CopyTable& copies) {
  json.Rows("copies", copies.copies, [&](const CopyRow& row) {
    json.Fields("kind", row.kind, "count", row.count, "total_ns", row.total, "bytes", row.bytes,
                "gigabytes_per_second", row.gigabytes_per_second(), "pageable", row.pageable);
  });
  json.BeginArray("memsets");
  if (copies.memsets.count > 0) {
    json.Row({}, "count", copies.memsets.count, "total_ns", copies.memsets.total, "bytes",
             copies.memsets.bytes);
  }
  json.End();
}

void WriteLaunches(JsonWriter& json, const LaunchTable& launches) {
  json.BeginObject("launches");
  json.Fields("gpu_events", launches.gpu_events, "with_launch", launches.with_launch,
              "without_launch", launches.without_launch, "without_correlation",
              launches.without_correlation, "graph_launches", launches.graphs.size(),
              "graph_gpu_events", launches.graph_gpu_events, "max_gpu_events_per_launch",
              launches.max_gpu_events_per_launch, "shorter_than_launch",
              launches.shorter_than_launch);
  if (launches.delay.count > 0) {
    json.BeginRow("delay");
    WriteStats(json, launches.delay);
    json.End();
  }
  WriteGraphs(json, launches);
  json.Rows("queues", launches.queues, [&](const LaunchTable::QueueDepth& queue) {
    json.Fields("device", queue.device, "stream", queue.stream, "max", queue.max, "mean",
                queue.mean);
  });
  for (const auto& [key, rows] :
       {std::pair{"apis", &launches.apis}, {"other_apis", &launches.other_apis}}) {
    json.Rows(key, *rows, [&](const ApiRow& row) {
      json.Field("name", row.name);
      WriteStats(json, row.stats);
    });
  }
  json.End();
}

void WriteOps(JsonWriter& json, std::string_view key, const std::vector<OpRow>& rows,
              bool with_outermost = true) {
  json.Rows(key, rows, [&](const OpRow& row) {
    json.Fields("name", row.name, "shapes", UnlessEmpty(row.shapes));
    if (row.annotation) json.Field("is_annotation", true);
    json.Fields("count", row.count, "cpu_total_ns", row.cpu_total, "cpu_self_ns", row.cpu_self,
                "device_total_ns", row.device_total, "device_self_ns", row.device_self, "flops",
                row.flops);
    if (row.memory) {
      json.Fields("cpu_memory_total_bytes", row.memory->cpu_total, "cpu_memory_self_bytes",
                  row.memory->cpu_self, "device_memory_total_bytes", row.memory->device_total,
                  "device_memory_self_bytes", row.memory->device_self);
    }
    if (with_outermost) {
      json.Fields("cpu_outermost_ns", row.cpu_outermost, "device_outermost_ns",
                  row.device_outermost);
    }
  });
}

void WriteSteps(JsonWriter& json, const StepTable& steps) {
  std::map<Phase, uint64_t> by_phase = {
      {Phase::kPrefill, 0}, {Phase::kDecode, 0}, {Phase::kMixed, 0}, {Phase::kEmpty, 0}};
  std::optional<int64_t> context_tokens, generation_tokens;
  const auto add = [](std::optional<int64_t>& sum, int64_t more) {
    if (more >= 0) sum = AddSaturated(sum.value_or(0), more);
  };
  for (const Step& step : steps.steps) {
    ++by_phase[step.label.phase];
    add(context_tokens, step.label.context_tokens);
    add(generation_tokens, step.label.generation_tokens);
  }
  json.BeginObject("steps");
  json.Fields("method", steps.method, "count", steps.steps.size());
  json.BeginRow("by_phase");
  for (const auto& [phase, count] : by_phase) json.Field(PhaseName(phase), count);
  json.End();
  json.Fields("context_tokens", context_tokens, "generation_tokens", generation_tokens);
  json.Rows("list", steps.steps, [&](const Step& step) {
    const auto field = [&](std::string_view key, int64_t value) {
      if (value >= 0) json.Field(key, value);
    };
    json.Fields("phase", PhaseName(step.label.phase), "start_ns", step.when.start, "dur_ns",
                step.when.length(), "period_ns", step.period);
    if (step.cut) json.Field("cut", true);
    json.Fields("device_span_ns", step.device_span, "device_busy_ns", step.device_busy);
    field("context_requests", step.label.context_requests);
    field("context_tokens", step.label.context_tokens);
    field("generation_requests", step.label.generation_requests);
    field("generation_tokens", step.label.generation_tokens);
  });
  json.End();
}

void WriteIdle(JsonWriter& json, const IdleTable& idle) {
  json.BeginObject("idle");
  json.Fields("window_ns", idle.window, "busy_ns", idle.busy);
  if (idle.may_be_busy.ns > 0) json.Field("may_be_busy_ns", idle.may_be_busy);
  if (idle.requests != Requests::kUnknown) {
    json.Field("requests", idle.requests == Requests::kKnown    ? "known"
                           : idle.requests == Requests::kShared ? "shared"
                                                                : "others");
    if (idle.requests != Requests::kOthers)
      json.Field("requests_uncertainty_ns", idle.requests_uncertainty);
  }
  json.Rows("causes", idle.causes, [&](const IdleCauseRow& row) {
    json.Fields("id", IdleCauseId(row.cause), "ns", row.total, "count", row.count);
    json.Field("call", UnlessEmpty(row.call));
  });
  json.Rows("gaps", idle.gaps, [&](const IdleGap& gap) {
    json.Fields("device", gap.device, "start_ns", gap.when.start, "dur_ns", gap.when.length(),
                "cause", IdleCauseId(gap.cause), "before", UnlessEmpty(gap.before), "after",
                UnlessEmpty(gap.after), "host", UnlessEmpty(gap.host), "host_track",
                UnlessEmpty(gap.host_track));
  });
  json.End();
}

}  // namespace

void WriteTraceTablesJson(JsonWriter& json, const TraceAnalysis& trace) {
  json.BeginArray("devices");
  for (const DeviceTime& device : trace.devices) WriteDevice(json, device);
  json.End();
  WriteKernels(json, trace.kernels);
  WriteCopies(json, trace.copies);
  WriteLaunches(json, trace.launches);
  WriteOps(json, "ops", trace.ops.rows);
  if (!trace.ops.by_shape.empty()) WriteOps(json, "ops_by_shape", trace.ops.by_shape);
  const KeyAverages& averages = trace.ops.key_averages;
  if (!averages.rows.empty()) WriteOps(json, "key_averages", averages.rows, false);
  if (!averages.by_shape.empty()) {
    WriteOps(json, "key_averages_by_shape", averages.by_shape, false);
  }
  if (!trace.steps.method.empty()) WriteSteps(json, trace.steps);
  if (!trace.devices.empty()) WriteIdle(json, trace.idle);
}

}  // namespace tacho
