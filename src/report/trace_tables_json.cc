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
  json.Field("count", stats.count);
  json.Field("total_ns", stats.total);
  json.Field("min_ns", stats.min);
  json.Field("max_ns", stats.max);
  json.Field("p50_ns", stats.p50);
  json.Field("p90_ns", stats.p90);
  json.Field("p99_ns", stats.p99);
}

void WriteCategories(JsonWriter& json, const std::vector<CategoryRow>& categories) {
  json.BeginArray("categories");
  for (const CategoryRow& row : categories) {
    json.BeginRow();
    json.Field("category", row.category);
    json.Field("count", row.count);
    json.Field("total_ns", row.total);
    json.End();
  }
  json.End();
}

void WriteGraphs(JsonWriter& json, const LaunchTable& launches) {
  if (!launches.graphs.empty()) {
    json.BeginRow("graph_calls");
    WriteStats(json, launches.graph_calls);
    json.Field("under_1ms", launches.graphs_under_1ms);
    json.Field("from_1_to_5ms", launches.graphs_1_to_5ms);
    json.Field("over_5ms", launches.graphs_over_5ms);
    json.End();
  }
  json.BeginArray("graphs");
  for (const GraphLaunch& graph : launches.graphs) {
    json.BeginRow();
    json.Field("start_ns", graph.call.start);
    json.Field("dur_ns", graph.call.length());
    json.Field("gpu_events", graph.gpu_events);
    if (graph.gpu_events > 0) {
      json.Field("work_start_ns", graph.work.start);
      json.Field("work_ns", graph.work.length());
    }
    json.End();
  }
  json.End();
}

void WriteDevice(JsonWriter& json, const DeviceTime& device) {
  json.BeginObject();
  json.Field("device", device.device);
  if (device.on_host) json.Field("on_host", true);
  json.Field("gpu_events", device.gpu_events);
  json.Field("window_start_ns", device.window.start);
  json.Field("window_ns", device.window.length());
  json.Field("busy_ns", device.busy);
  json.Field("idle_ns", device.idle);
  json.Field("compute_ns", device.compute);
  json.Field("exposed_comm_ns", device.exposed_comm);
  json.Field("exposed_copy_ns", device.exposed_copy);
  json.Field("kernel_sum_ns", device.kernel_sum);
  json.Field("kernel_busy_ns", device.kernel_busy);
  json.Field("comm_busy_ns", device.comm_busy);
  json.Field("copy_busy_ns", device.copy_busy);
  json.BeginRow("gaps");
  json.Field("count", device.gaps.count);
  json.Field("over_1us", device.gaps.over_1us);
  json.Field("over_10us", device.gaps.over_10us);
  json.Field("over_100us", device.gaps.over_100us);
  json.Field("over_1ms", device.gaps.over_1ms);
  json.Field("largest_ns", device.gaps.largest);
  json.End();
  json.BeginArray("overlaps");
  for (size_t mask = 0; mask < device.by_kinds.size(); ++mask) {
    if (device.by_kinds[mask].ns == 0) continue;
    json.BeginRow();
    json.Texts("kinds", KindNames(mask));
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
  json.BeginArray("streams");
  for (const StreamTime& stream : device.streams) {
    json.BeginRow();
    json.Field("stream", stream.stream);
    json.Field("events", stream.events);
    json.Field("sum_ns", stream.sum);
    json.Field("busy_ns", stream.busy);
    json.Field("overlaps", stream.overlaps);
    for (size_t kind = 0; kind < kWorkKinds; ++kind) {
      json.Field(fmt::format("{}_ns", WorkKindName(static_cast<WorkKind>(kind))),
                 stream.by_kind[kind]);
    }
    WriteCategories(json, stream.categories);
    json.End();
  }
  json.End();
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
    json.Field("name", row.name);
    json.Field("short_name", short_names[i]);
    json.Field("category", row.category);
    json.Field("device", row.device);
    WriteStats(json, row.stats);
    json.End();
  }
  json.End();
  WriteCategories(json, kernels.categories);
  if (!kernels.rows.empty()) {
    json.BeginRow("classifier");
    json.Field("coverage", kernels.coverage);
    json.End();
    json.Field("kernels_shorter_than_10us", kernels.shorter_than_10us);
  }
}

void WriteCopies(JsonWriter& json, const CopyTable& copies) {
  json.BeginArray("copies");
  for (const CopyRow& row : copies.copies) {
    json.BeginRow();
    json.Field("kind", row.kind);
    json.Field("count", row.count);
    json.Field("total_ns", row.total);
    json.Field("bytes", row.bytes);
    json.Field("gigabytes_per_second", row.gigabytes_per_second());
    json.Field("pageable", row.pageable);
    json.End();
  }
  json.End();
  json.BeginArray("memsets");
  if (copies.memsets.count > 0) {
    json.BeginRow();
    json.Field("count", copies.memsets.count);
    json.Field("total_ns", copies.memsets.total);
    json.Field("bytes", copies.memsets.bytes);
    json.End();
  }
  json.End();
}

void WriteLaunches(JsonWriter& json, const LaunchTable& launches) {
  json.BeginObject("launches");
  json.Field("gpu_events", launches.gpu_events);
  json.Field("with_launch", launches.with_launch);
  json.Field("without_launch", launches.without_launch);
  json.Field("without_correlation", launches.without_correlation);
  json.Field("graph_launches", launches.graphs.size());
  json.Field("graph_gpu_events", launches.graph_gpu_events);
  json.Field("max_gpu_events_per_launch", launches.max_gpu_events_per_launch);
  json.Field("shorter_than_launch", launches.shorter_than_launch);
  if (launches.delay.count > 0) {
    json.BeginRow("delay");
    WriteStats(json, launches.delay);
    json.End();
  }
  WriteGraphs(json, launches);
  json.BeginArray("queues");
  for (const LaunchTable::QueueDepth& queue : launches.queues) {
    json.BeginRow();
    json.Field("device", queue.device);
    json.Field("stream", queue.stream);
    json.Field("max", queue.max);
    json.Field("mean", queue.mean);
    json.End();
  }
  json.End();
  for (const auto& [key, rows] :
       {std::pair{"apis", &launches.apis}, {"other_apis", &launches.other_apis}}) {
    json.BeginArray(key);
    for (const ApiRow& row : *rows) {
      json.BeginRow();
      json.Field("name", row.name);
      WriteStats(json, row.stats);
      json.End();
    }
    json.End();
  }
  json.End();
}

void WriteOps(JsonWriter& json, std::string_view key, const std::vector<OpRow>& rows,
              bool with_outermost = true) {
  json.BeginArray(key);
  for (const OpRow& row : rows) {
    json.BeginRow();
    json.Field("name", row.name);
    json.FieldUnlessEmpty("shapes", row.shapes);
    if (row.annotation) json.Field("is_annotation", true);
    json.Field("count", row.count);
    json.Field("cpu_total_ns", row.cpu_total);
    json.Field("cpu_self_ns", row.cpu_self);
    json.Field("device_total_ns", row.device_total);
    json.Field("device_self_ns", row.device_self);
    json.Field("flops", row.flops);
    if (row.memory) {
      json.Field("cpu_memory_total_bytes", row.memory->cpu_total);
      json.Field("cpu_memory_self_bytes", row.memory->cpu_self);
      json.Field("device_memory_total_bytes", row.memory->device_total);
      json.Field("device_memory_self_bytes", row.memory->device_self);
    }
    if (with_outermost) {
      json.Field("cpu_outermost_ns", row.cpu_outermost);
      json.Field("device_outermost_ns", row.device_outermost);
    }
    json.End();
  }
  json.End();
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
  json.Field("method", steps.method);
  json.Field("count", steps.steps.size());
  json.BeginRow("by_phase");
  for (const auto& [phase, count] : by_phase) json.Field(PhaseName(phase), count);
  json.End();
  json.Field("context_tokens", context_tokens);
  json.Field("generation_tokens", generation_tokens);
  json.BeginArray("list");
  for (const Step& step : steps.steps) {
    const auto field = [&](std::string_view key, int64_t value) {
      if (value >= 0) json.Field(key, value);
    };
    json.BeginRow();
    json.Field("phase", PhaseName(step.label.phase));
    json.Field("start_ns", step.when.start);
    json.Field("dur_ns", step.when.length());
    json.Field("period_ns", step.period);
    if (step.cut) json.Field("cut", true);
    json.Field("device_span_ns", step.device_span);
    json.Field("device_busy_ns", step.device_busy);
    field("context_requests", step.label.context_requests);
    field("context_tokens", step.label.context_tokens);
    field("generation_requests", step.label.generation_requests);
    field("generation_tokens", step.label.generation_tokens);
    json.End();
  }
  json.End();
  json.End();
}

void WriteIdle(JsonWriter& json, const IdleTable& idle) {
  json.BeginObject("idle");
  json.Field("window_ns", idle.window);
  json.Field("busy_ns", idle.busy);
  if (idle.may_be_busy.ns > 0) json.Field("may_be_busy_ns", idle.may_be_busy);
  if (idle.requests != Requests::kUnknown) {
    json.Field("requests", idle.requests == Requests::kKnown    ? "known"
                           : idle.requests == Requests::kShared ? "shared"
                                                                : "others");
    if (idle.requests != Requests::kOthers)
      json.Field("requests_uncertainty_ns", idle.requests_uncertainty);
  }
  json.BeginArray("causes");
  for (const IdleCauseRow& row : idle.causes) {
    json.BeginRow();
    json.Field("id", IdleCauseId(row.cause));
    json.Field("ns", row.total);
    json.Field("count", row.count);
    if (!row.call.empty()) json.Field("call", row.call);
    json.End();
  }
  json.End();
  json.BeginArray("gaps");
  for (const IdleGap& gap : idle.gaps) {
    json.BeginRow();
    json.Field("device", gap.device);
    json.Field("start_ns", gap.when.start);
    json.Field("dur_ns", gap.when.length());
    json.Field("cause", IdleCauseId(gap.cause));
    json.FieldUnlessEmpty("before", gap.before);
    json.FieldUnlessEmpty("after", gap.after);
    json.FieldUnlessEmpty("host", gap.host);
    json.FieldUnlessEmpty("host_track", gap.host_track);
    json.End();
  }
  json.End();
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
