#pragma once

#include <map>
#include <optional>

#include "analysis/device/copies.h"
#include "analysis/device/idle_table.h"
#include "analysis/device/kernels.h"
#include "analysis/device/launches.h"
#include "analysis/device/profiler_overhead.h"
#include "analysis/host/ops.h"
#include "analysis/schema/device_fields.h"
#include "analysis/steps/step_profile.h"
#include "analysis/steps/steps.h"
#include "base/field_kinds.h"

// The fields of schema 1 (docs/json.md) for a trace's tables. conditions.h explains `out`. Each
// function adds members to the JSON object that is currently open.
namespace tacho::schema {

void Stats(auto& out, auto& stats) {
  out.Field(Key{"count", "number of them"}, stats.count);
  out.Field(Key{"total_ns", "sum of durations"}, stats.total);
  out.Field(Key{"min_ns", "shortest duration"}, stats.min);
  out.Field(Key{"max_ns", "longest duration"}, stats.max);
  out.Field(Key{"p50_ns", "median, by nearest rank"}, stats.p50);
  out.Field(Key{"p90_ns", "90th percentile, by nearest rank"}, stats.p90);
  out.Field(Key{"p99_ns", "99th percentile, by nearest rank"}, stats.p99);
}

// `short_name` returns the short kernel name of a row.
void Kernels(auto& out, auto& kernels, const auto& short_name) {
  out.Rows(Key{"kernels", "all kernels, by total, then name"}, kernels.rows, [&](auto& row) {
    out.Field(Key{"name", "name in the file; bytes that are not UTF-8 become U+FFFD"}, row.name);
    out.Field(
        Key{"short_name",
            "demangled name without return type, parameters and inner template arguments; at most "
            "60 columns wide, with `…` for what is left out. No two names of `kernels` share one"},
        Derived(short_name(row)));
    out.Field(Key{"category",
                  "category by the rules (`gemm.dense`, `comm.collective`, ...); `unclassified` "
                  "when none matches"},
              row.category);
    out.Field(Key{"device", "id of its device, as in `devices`"}, row.device);
    Stats(out, row.stats);
    if constexpr (kReads<decltype(out)>) kernels.total += row.stats.total;
  });
  Categories(out, Key{"categories", "kernels by category, by total"}, kernels.categories);
  if (IsThere(out, "classifier", !kernels.rows.empty())) {
    out.BeginRow(Key{"classifier", "fit of the rules for categories; absent without kernels"});
    out.Field(Key{"coverage", "share of kernel time with a category, 0..1"}, kernels.coverage);
    out.End();
    out.Field(Key{"kernels_shorter_than_10us",
                  "number of kernels shorter than 10 us; absent without kernels"},
              kernels.shorter_than_10us);
  }
}

void Copies(auto& out, auto& copies) {
  out.Rows(Key{"copies", "copies by kind, by total"}, copies.copies, [&](auto& row) {
    const auto rate = row.gigabytes_per_second();
    out.Field(Key{"kind",
                  "direction: `HtoD`, `DtoH`, `DtoD`, ...; the whole name if it has no such part"},
              row.kind);
    out.Field(Key{"count", "number of them"}, row.count);
    out.Field(Key{"total_ns", "sum of durations"}, row.total);
    out.Field(Key{"bytes", "sum of the bytes; absent when no event has them"}, row.bytes);
    out.Field(Key{"gigabytes_per_second", "rate: bytes / total, decimal GB"}, Derived(rate));
    out.Field(Key{"pageable", "copies with an end in pageable memory"}, row.pageable);
  });
  std::vector<MemsetRow> memsets(copies.memsets.count > 0 ? 1 : 0, copies.memsets);
  out.Rows(Key{"memsets", "all memsets in one row, or none"}, memsets, [&](auto& row) {
    out.Field(Key{"count", "number of them"}, row.count);
    out.Field(Key{"total_ns", "sum of durations"}, row.total);
    out.Field(Key{"bytes", "sum of the bytes; absent when no event has them"}, row.bytes);
  });
  if constexpr (kReads<decltype(out)>) {
    if (!memsets.empty()) copies.memsets = memsets.front();
  }
}

void Apis(auto& out, const Key& key, auto& rows) {
  out.Rows(key, rows, [&](auto& row) {
    out.Field(Key{"name", "name of the host call"}, row.name);
    Stats(out, row.stats);
  });
}

void Graphs(auto& out, auto& launches) {
  if (IsThere(out, "graph_calls", !launches.graphs.empty())) {
    out.BeginRow(Key{"graph_calls", "time of the graph launches on the host; absent without any"});
    Stats(out, launches.graph_calls);
    out.Field(Key{"under_1ms", "calls shorter than 1 ms"}, launches.graphs_under_1ms);
    out.Field(Key{"from_1_to_5ms", "calls of 1 ms to 5 ms, both included"},
              launches.graphs_1_to_5ms);
    out.Field(Key{"over_5ms", "calls longer than 5 ms"}, launches.graphs_over_5ms);
    out.End();
  }
  out.Rows(Key{"graphs", "graph launches, by start"}, launches.graphs, [&](auto& graph) {
    out.Field(Key{"start_ns", "start of the host call, on the trace's clock"}, graph.call.start);
    out.Field(Key{"dur_ns", "duration of the host call"}, LengthOf(graph.call));
    out.Field(Key{"gpu_events", "kernels, copies and memsets under it"}, graph.gpu_events);
    if (IsThere(out, "work_start_ns", !graph.work.empty())) {
      out.Field(Key{"work_start_ns",
                    "the first start of this work; absent without any, and where host and device "
                    "have no clock in common"},
                graph.work.start);
      out.Field(Key{"work_ns", "time from the first start of this work to its last end"},
                LengthOf(graph.work));
    }
  });
}

void Overheads(auto& out, auto& overhead) {
  if (!IsThere(out, "profiler_ns", overhead.has_value())) return;
  Ensure(out, overhead);
  out.Field(Key{"launch_calls",
                "calls that launch, copy or set; calls inside one another count once; this field "
                "and those below are absent where the trace has no overhead of the profiler"},
            overhead->calls);
  out.Field(Key{"launch_calls_ns", "time in all these calls"}, overhead->call_time);
  out.Field(Key{"profiler_calls",
                "number of these calls that contain overhead that the profiler recorded"},
            overhead->held_up);
  out.Field(Key{"profiler_ns", "overhead within launch_calls_ns"}, overhead->total);
  out.Rows(Key{"overheads", "overheads within the launch calls, by total"}, overhead->rows,
           [&](auto& row) {
             const std::string_view owner = OverheadOwnerName(KindOfOverhead(row.name).owner);
             out.Field(Key{"name", "name that the profiler gives it"}, row.name);
             if (!kReads<decltype(out)> && Holds(out, !owner.empty()))
               out.Field(Key{"owner", "owner of the time: `profiler` or `cuda`"}, Derived(owner));
             out.Field(Key{"count", "overheads with a part in a launch call"}, row.count);
             out.Field(Key{"total_ns", "time of them in launch calls; concurrent ones each count"},
                       row.total);
           });
}

void Launches(auto& out, auto& launches) {
  const size_t graphs = launches.graphs.size();
  out.BeginObject(Key{"launches", "the way of work onto the GPU"});
  out.Field(Key{"gpu_events",
                "kernels, copies and memsets with a correlation: with_launch + without_launch"},
            launches.gpu_events);
  out.Field(Key{"with_launch", "number of those with a host call of the same correlation"},
            launches.with_launch);
  out.Field(Key{"without_launch", "number of the rest: their launch is not in the recording"},
            launches.without_launch);
  out.Field(
      Key{"without_correlation", "other kernels, copies and memsets: their launch is unknown"},
      launches.without_correlation);
  out.Field(Key{"graph_launches", "host calls with `GraphLaunch` in their name"}, Derived(graphs));
  out.Field(Key{"graph_gpu_events", "GPU work under them"}, launches.graph_gpu_events);
  out.Field(Key{"max_gpu_events_per_launch", "most GPU work under one call"},
            launches.max_gpu_events_per_launch);
  out.Field(
      Key{"shorter_than_launch", "kernels shorter than their own launch call (graphs left out)"},
      launches.shorter_than_launch);
  if (IsThere(out, "delay", launches.delay.count > 0)) {
    out.BeginRow(Key{"delay",
                     "time from the end of a launch call to the start of its first piece of work, "
                     "at least 0; absent without a linked launch"});
    Stats(out, launches.delay);
    out.End();
  }
  Graphs(out, launches);
  out.Rows(
      Key{"queues", "queues of launched work, by device and stream"}, launches.queues,
      [&](auto& queue) {
        out.Field(Key{"device", "id of its device, as in `devices`"}, queue.device);
        out.Field(Key{"stream", "id of its stream, as in `streams`"}, queue.stream);
        out.Field(Key{"max", "largest number of pieces launched and not yet started"}, queue.max);
        out.Field(Key{"mean", "mean of the same number, weighted by time"}, queue.mean);
      });
  Apis(out, Key{"apis", "CUDA and HIP runtime and driver calls, by total"}, launches.apis);
  Apis(out, Key{"other_apis", "calls of other accelerators' runtimes"}, launches.other_apis);
  Overheads(out, launches.overhead);
  out.End();
}

void Memory(auto& out, auto& memory) {
  out.Field(Key{"cpu_memory_total_bytes",
                "bytes allocated less those released on CPUs while its calls ran; only in the "
                "key_averages tables, if memory was recorded"},
            memory.cpu_total);
  out.Field(Key{"cpu_memory_self_bytes", "the same without direct children"}, memory.cpu_self);
  out.Field(Key{"device_memory_total_bytes", "the same on devices"}, memory.device_total);
  out.Field(Key{"device_memory_self_bytes", "the same on devices, without direct children"},
            memory.device_self);
}

// `with_outermost` is false for key_averages, where the outermost times equal the totals.
void Ops(auto& out, const Key& key, auto& rows, bool with_outermost) {
  out.Rows(key, rows, [&](auto& row) {
    out.Field(Key{"name", "name of the operator"}, row.name);
    out.Field(
        Key{"shapes", "`Input Dims` as JSON text without white space; only in the tables by shape"},
        UnlessIs(row.shapes, ""));
    out.Field(Key{"is_annotation", "`true` for an annotation; only in the key_averages tables"},
              UnlessIs(row.annotation, false));
    out.Field(Key{"count", "calls"}, row.count);
    out.Field(Key{"cpu_total_ns", "sum of durations"}, row.cpu_total);
    out.Field(Key{"cpu_self_ns", "sum of durations without direct children"}, Signed(row.cpu_self));
    out.Field(Key{"device_total_ns", "time of GPU work launched by it and its children"},
              row.device_total);
    out.Field(Key{"device_self_ns", "time of GPU work launched by itself"}, row.device_self);
    out.Field(Key{"flops",
                  "floating-point operations by PyTorch's formulas (docs/metrics.md); absent for "
                  "operators without a formula, and if shapes were not recorded"},
              row.flops);
    if constexpr (kReads<decltype(out)>) {
      if (out.Has("cpu_memory_total_bytes")) row.memory.emplace();
      row.cpu_outermost = row.cpu_total;
      row.device_outermost = row.device_total;
    }
    if (Holds(out, row.memory.has_value())) {
      if constexpr (kDescribes<decltype(out)>) row.memory.emplace();
      Memory(out, *row.memory);
    }
    if (with_outermost) {
      out.Field(Key{"cpu_outermost_ns",
                    "sum of durations of the outermost calls: those that are not inside another "
                    "call of the row on their thread; not in the key_averages tables"},
                row.cpu_outermost);
      out.Field(Key{"device_outermost_ns", "device total of the same calls"}, row.device_outermost);
    }
  });
}

void OpTables(auto& out, auto& ops) {
  const auto unless_empty = [&](const Key& key, auto& rows, bool with_outermost) {
    if (IsThere(out, key.name, !rows.empty())) Ops(out, key, rows, with_outermost);
  };
  Ops(out, Key{"ops", "host operators by name, by cpu_self"}, ops.rows, true);
  unless_empty(Key{"ops_by_shape",
                   "host operators by name and input shapes; absent when none were recorded"},
               ops.by_shape, true);
  unless_empty(Key{"key_averages", "rows as PyTorch's key_averages() counts: docs/metrics.md"},
               ops.key_averages.rows, false);
  unless_empty(Key{"key_averages_by_shape",
                   "rows as PyTorch's key_averages(group_by_input_shape=True) counts; absent when "
                   "no shapes were recorded"},
               ops.key_averages.by_shape, false);
}

// Totals over a StepTable.
struct StepSums {
  std::map<Phase, uint64_t> by_phase;
  std::optional<int64_t> context_tokens, generation_tokens;
};
StepSums SumsOf(const StepTable& steps);

void Steps(auto& out, auto& steps) {
  const StepSums sums = SumsOf(steps);
  const size_t count = steps.steps.size();
  out.BeginObject(
      Key{"steps",
          "engine steps; absent when the trace has no step annotation, unless its header names "
          "vLLM's version: then `count` is 0"});
  out.Field(
      Key{"method",
          "way in which the steps were found: `annotated` or `part` (a range stands for each: "
          "[nsight.md](nsight.md))"},
      steps.method);
  out.Field(Key{"count", "number of all steps"}, Derived(count));
  out.BeginRow(Key{
      "by_phase",
      "number of steps by phase: prefill, decode, mixed and empty always; other if there are any"});
  for (const auto& [phase, with] : sums.by_phase) out.Field(PhaseName(phase), Derived(with));
  out.End();
  out.Field(Key{"context_tokens", "sum over the steps; absent when no step has it"},
            Derived(sums.context_tokens));
  out.Field(Key{"generation_tokens", "sum over the steps; absent when no step has it"},
            Derived(sums.generation_tokens));
  out.Rows(Key{"list", "steps, by start"}, steps.steps, [&](auto& step) {
    auto& label = step.label;
    out.Field(Key{"phase",
                  "phase: `prefill`, `decode`, `mixed`, `empty`, or `other` (training steps, and "
                  "those of method `part`)"},
              ByName(label.phase, PhaseName, kPhaseCount));
    out.Field(Key{"start_ns", "start, on the trace's clock"}, step.when.start);
    out.Field(Key{"dur_ns", "duration of the annotation"}, LengthOf(step.when));
    out.Field(
        Key{"period_ns", "time to the start of the next step on its track; the last has none"},
        step.period);
    out.Field(Key{"cut", "`true` if a part of it lies outside the `--window`"},
              UnlessIs(step.cut, false));
    out.Field(
        Key{"lost_work",
            "`true`: work that it launched is not in the file, so it has no times on the device"},
        UnlessIs(step.lost_work, false));
    out.Field(Key{"device_span_ns",
                  "time from the first start to the last end of the step's work "
                  "([metrics.md](metrics.md#steps)); absent without any"},
              step.device_span);
    out.Field(Key{"device_busy_ns", "union of that work"}, step.device_busy);
    out.Field(Key{"context_requests", "requests in prefill"}, UnlessIs(label.context_requests, -1));
    out.Field(Key{"context_tokens", "tokens of these requests"},
              UnlessIs(label.context_tokens, -1));
    out.Field(Key{"generation_requests", "requests in decode"},
              UnlessIs(label.generation_requests, -1));
    out.Field(Key{"generation_tokens", "tokens of these requests"},
              UnlessIs(label.generation_tokens, -1));
  });
  out.End();
}

// Whether a profile that was read from JSON is consistent: its indexes exist, its parts add up, and
// its batches match its rows.
bool IsConsistent(const StepProfile& profile, const std::vector<Step>& steps, size_t devices,
                  size_t kernels);

void StepParts(auto& out, auto& trace) {
  auto& profile = trace.step_profile;
  out.BeginObject(Key{
      "step_parts", "parts of the time of each step; absent without a step that has a successor"});
  out.List(Key{"parts",
               "names of the parts: a category of work, `copy`, `memset`, or `idle.` and a cause: "
               "each instant of a step counts for one of these (docs/metrics.md)"},
           profile.parts);
  out.Rows(Key{"rows",
               "a row for each step on each device, without the last step of a thread and the "
               "steps that a window cuts"},
           profile.rows, [&](auto& row) {
             out.Field(Key{"step", "place of the step in `steps.list`, from 0"}, row.step);
             out.Field(Key{"device", "place of the device in `devices`, from 0"}, row.device);
             out.Field(Key{"start_ns",
                           "start of the step's first work on the device, on the trace's clock; on "
                           "a CPU engine the start of its annotation"},
                       row.when.start);
             out.Field(Key{"dur_ns",
                           "time from start_ns to that of the thread's next step, or to the end of "
                           "the step's own work if a pause follows"},
                       LengthOf(row.when));
             out.List(
                 Key{"ns", "time by part, in the order of `parts`; the times add up to dur_ns"},
                 row.ns);
           });
  out.Rows(
      Key{"batches", "steps of one phase and about one size"}, profile.batches, [&](auto& batch) {
        out.Field(Key{"phase", "phase, as in `steps.list`"},
                  ByName(batch.batch.phase, PhaseName, kPhaseCount));
        out.Field(Key{"most",
                      "the largest size of the group: requests of a decode step, tokens of any "
                      "other; 0 where steps do not have this number (docs/metrics.md)"},
                  batch.batch.most);
        out.Field(Key{"steps", "rows of this batch"}, batch.steps);
        out.Rows(
            Key{"kernels", "kernels that start within the rows"}, batch.kernels, [&](auto& use) {
              out.Field(Key{"kernel", "row of the kernel in `kernels`, from 0"}, use.kernel);
              out.Field(Key{"calls", "number of its calls in all steps of the batch"}, use.calls);
              out.Field(Key{"total_ns", "sum of their durations"}, use.total);
              out.Field(Key{"deviation_ns", "standard deviation of its time in a step"},
                        use.deviation);
              out.Field(Key{"place",
                            "place in a step at which its calls start, on average: 0 is the start, "
                            "1 the end"},
                        use.place);
            });
      });
  if constexpr (kReads<decltype(out)>) {
    if (!IsConsistent(profile, trace.steps.steps, trace.devices.size(), trace.kernels.rows.size()))
      out.Refuse("rows",
                 "parts that add up, and batches of steps, devices and kernels that are there");
  }
  out.End();
}

// Whether busy time and the times of all causes add up to the window.
bool AddsUp(const IdleTable& idle);

void IdleGaps(auto& out, auto& gaps) {
  constexpr auto kCauses = static_cast<size_t>(IdleCause::kCount);
  out.Rows(Key{"gaps", "the 50 longest gaps"}, gaps, [&](auto& gap) {
    out.Field(Key{"device", "id of its device, as in `devices`"}, gap.device);
    out.Field(Key{"start_ns", "start, on the trace's clock"}, gap.when.start);
    out.Field(Key{"dur_ns", "length of the gap"}, LengthOf(gap.when));
    out.Field(Key{"cause", "the cause with the largest part"},
              ByName(gap.cause, IdleCauseId, kCauses));
    out.Field(Key{"before", "work that ends where the gap begins"}, UnlessIs(gap.before, ""));
    out.Field(Key{"after", "work that ends the gap"}, UnlessIs(gap.after, ""));
    out.Field(Key{"host", "work of the launching thread for most of the gap"},
              UnlessIs(gap.host, ""));
    out.Field(Key{"host_is_annotation", "`true`: `host` is an annotation, any text"},
              UnlessIs(gap.host_is_annotation, false));
    out.Field(Key{"host_track", "id of that thread, `pid/tid`"}, UnlessIs(gap.host_track, ""));
  });
}

void Idle(auto& out, auto& idle) {
  if constexpr (kReads<decltype(out)>) {
    idle.known = out.Has("idle");
  }
  if (!Holds(out, idle.known)) return;
  constexpr auto kCauses = static_cast<size_t>(IdleCause::kCount);
  out.BeginObject(Key{"idle",
                      "idle time by cause; absent without a device, and if lost work hides when "
                      "the devices were idle"});
  out.Field(Key{"window_ns", "sum of the windows over devices"}, idle.window);
  out.Field(Key{"busy_ns", "sum of busy time over devices"}, idle.busy);
  out.Field(
      Key{"may_be_busy_ns",
          "time for which the first launched work of a stream waited while nothing recorded ran: "
          "the device may have been busy with work launched before the recording began; the time "
          "may begin before the window; absent without that evidence: docs/metrics.md"},
      UnlessIs(idle.may_be_busy, DurationNs{}));
  if (IsThere(out, "requests", idle.requests != Requests::kUnknown))
    out.Field(Key{"requests",
                  "knowledge of the load's requests, only for a trace in a run folder of `tacho "
                  "record`. `known`: the load's requests show where `no-request` is; `shared`: the "
                  "requests went to several engines together, so they show the same, but not "
                  "whether one was in flight at this engine in the rest of the time; `others`: the "
                  "engine worked for other requests too, so tacho cannot know this"},
              ByName(idle.requests, RequestsName, kRequestsCount));
  if (Holds(out, idle.requests == Requests::kKnown || idle.requests == Requests::kShared))
    out.Field(Key{"requests_uncertainty_ns",
                  "time, with `known` and `shared`, that each request counts longer at both ends, "
                  "because clocks differ"},
              idle.requests_uncertainty);
  out.Rows(
      Key{"causes", "causes, longest first; busy_ns + all causes = window_ns"}, idle.causes,
      [&](auto& row) {
        out.Field(Key{"id",
                      "cause: `host-late`, `in-launch-call`, `launch-latency`, `waiting`, "
                      "`queued`, `in-graph`, `host`, `in-operator`, `between-steps`, `no-request`, "
                      "`unknown`, `profiler`: docs/metrics.md"},
                  ByName(row.cause, IdleCauseId, kCauses));
        out.Field(Key{"ns", "idle time with this cause"}, row.total);
        out.Field(Key{"count", "gaps that contain some of this time"}, row.count);
        out.Field(
            Key{"call",
                "name, only for some causes, of the launch call with 80 % of this time or more "
                "(`in-launch-call`, `launch-latency`, `waiting`), or of the overhead with most of "
                "it "
                "(`profiler`)"},
            UnlessIs(row.call, ""));
      });
  if constexpr (kReads<decltype(out)>) {
    if (!AddsUp(idle)) out.Refuse("window_ns", "the busy time and all causes");
  }
  IdleGaps(out, idle.gaps);
  out.End();
}

}  // namespace tacho::schema
