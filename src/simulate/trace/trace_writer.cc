#include "simulate/trace/trace_writer.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "simulate/trace/op_inputs.h"
#include "simulate/trace/python_frames.h"
#include "simulate/trace/trace_header.h"
#include "simulate/trace/trace_steps.h"

namespace tacho::simulate {
namespace {

class EventWriter {
 public:
  EventWriter(const TraceSource& source, const Recording& recording, TraceText& text)
      : source_(source), recording_(recording), layout_(LayoutOf(source.dialect)), text_(text) {}

  // Writes operators and annotations, sorted by start.
  void Host() {
    EachTracedStep(source_, recording_, [&](const TracedStep& step) {
      if (step.step->profiler_step) ProfilerStep(step);
      FindInputs(step);
      for (size_t i = 0; i < step.plan.host.size(); ++i) {
        if (step.external_ids[i] != 0) HostEvent(step, i);
      }
    });
  }

  // Writes Python frames: first the roots, over the whole window, then the frames of each step.
  void Frames(int64_t start_ns, int64_t end_ns) {
    int64_t id = 0;
    for (const std::string& name : RootFrames(source_.engine)) {
      Frame(name, start_ns + id * 1'300, end_ns - start_ns - id * 2'600, id + 1, id);
      ++id;
    }
    const int64_t innermost = id;
    EachTracedStep(source_, recording_, [&](const TracedStep& step) {
      const std::vector<PythonFrame> frames = FramesOf(source_.engine, step);
      const int64_t first = id + 1;
      for (const PythonFrame& frame : frames) {
        ++id;
        Frame(frame.name, frame.start_ns, frame.dur_ns, id,
              frame.parent < 0 ? innermost : first + frame.parent);
      }
    });
  }

  // Writes calls and device work in the order in which the driver reports them: sorted by end.
  void Device() {
    EachTracedStep(source_, recording_, [&](const TracedStep& step) {
      const auto end = [](const auto& event) { return event.start_ns + event.dur_ns; };
      size_t next = 0;
      for (size_t c = 0; c < step.plan.calls.size(); ++c) {
        const HostCall& call = step.plan.calls[c];
        for (; next < step.plan.device.size() && end(step.plan.device[next]) < end(call); ++next) {
          if (step.shows_device[next]) DeviceEvent(step, step.plan.device[next]);
        }
        if (step.shows_call[c]) Call(step, c);
      }
      for (; next < step.plan.device.size(); ++next) {
        if (step.shows_device[next]) DeviceEvent(step, step.plan.device[next]);
      }
    });
    EachTracedStep(source_, recording_, [&](const TracedStep& step) { OnDevice(step); });
  }

 private:
  void Complete(std::string_view category, std::string_view name) {
    text_.Text(layout_.complete);
    text_.Text(category);
    text_.Text(layout_.name);
    text_.Text(name);
  }
  void Span(int64_t pid, int64_t tid, int64_t start_ns, int64_t dur_ns) {
    text_.Text(layout_.pid);
    text_.Number(pid);
    text_.Text(layout_.tid);
    text_.Number(tid);
    text_.Text(layout_.ts);
    text_.Microseconds(start_ns);
    text_.Text(layout_.dur);
    text_.Microseconds(dur_ns);
    text_.Text(layout_.args);
  }
  void Flow(bool is_start, int64_t id, int64_t pid, int64_t tid, int64_t ts_ns) {
    text_.Text(is_start ? layout_.flow_start : layout_.flow_end);
    text_.Number(id);
    text_.Text(layout_.flow_pid);
    text_.Number(pid);
    text_.Text(layout_.flow_tid);
    text_.Number(tid);
    text_.Text(layout_.flow_ts);
    text_.Microseconds(ts_ns);
    text_.Text(is_start ? layout_.flow_start_close : layout_.flow_end_close);
  }
  void Field(std::string_view before, int64_t value) {
    text_.Text(before);
    text_.Number(value);
  }
  void ExternalId(int64_t id) {
    if (id == 0) return;
    Field("\"External id\": ", id);
    text_.Text(",");
  }

  void HostEvent(const TracedStep& step, size_t i) {
    const HostSlice& slice = step.plan.host[i];
    const bool is_op = slice.kind == HostSlice::Kind::kOp;
    Complete(is_op ? "cpu_op" : "user_annotation", step.NameOf(slice));
    Span(source_.pid, source_.pid, step.origin_ns + slice.start_ns, slice.dur_ns);
    ExternalId(step.external_ids[i]);
    text_.Text("\"Record function id\": 0, ");
    if (step.unfinished[i]) text_.Text("\"finished\": false, ");
    if (is_op && !inputs_[i].empty()) {
      text_.Text(inputs_[i]);
      text_.Text(", ");
    }
    Field("\"Ev Idx\": ", event_index_++);
    text_.Text(layout_.close);
  }

  // Finds the inputs of each operator of the step, from the kernel that the operator launches.
  void FindInputs(const TracedStep& step) {
    inputs_.assign(step.plan.host.size(), "");
    if (!source_.record_shapes) return;
    for (const DeviceSlice& slice : step.plan.device) {
      if (slice.slice < 0 || slice.kind != DeviceSlice::Kind::kKernel) continue;
      inputs_[static_cast<size_t>(slice.slice)] =
          OperatorInputs(source_.cost, slice.role, slice.rows);
    }
  }

  void Frame(const std::string& name, int64_t start_ns, int64_t dur_ns, int64_t id,
             int64_t parent) {
    Complete("python_function", name);
    Span(source_.pid, source_.pid, start_ns, dur_ns);
    text_.Text("\"Python parent id\": ");
    parent == 0 ? text_.Text("null") : text_.Number(parent);
    Field(", \"Python id\": ", id);
    Field(", \"Ev Idx\": ", event_index_++);
    text_.Text(layout_.close);
  }

  // Writes the range of torch's schedule, which reaches from one call of step() to the next.
  void ProfilerStep(const TracedStep& step) {
    Complete("user_annotation", "ProfilerStep#" + std::to_string(*step.step->profiler_step));
    Span(source_.pid, source_.pid, step.origin_ns, step.plan.end_ns);
    text_.Text("\"External id\": 0,\"Record function id\": 0, ");
    Field("\"Ev Idx\": ", event_index_++);
    text_.Text(layout_.close);
  }

  void Call(const TracedStep& step, size_t c) {
    const HostCall& call = step.plan.calls[c];
    const int64_t start = step.origin_ns + call.start_ns;
    Complete(call.call->category, call.call->name);
    Span(source_.pid, source_.pid, start, call.dur_ns);
    ExternalId(step.OperatorId(call.slice));
    Field("      \"cbid\": ", call.call->cbid);
    Field(", \"correlation\": ", step.correlations[c]);
    text_.Text(layout_.close);
    Flow(call.call->starts_flow, step.correlations[c], source_.pid, source_.pid, start);
  }

  void DeviceEvent(const TracedStep& step, const DeviceSlice& slice) {
    using Kind = DeviceSlice::Kind;
    const int64_t start = step.origin_ns + slice.start_ns;
    const int64_t correlation = step.correlations[static_cast<size_t>(slice.call)];
    Complete(slice.kind == Kind::kKernel ? "kernel"
             : slice.kind == Kind::kCopy ? "gpu_memcpy"
                                         : "gpu_memset",
             slice.name);
    Span(source_.device, slice.stream, start, slice.dur_ns);
    ExternalId(step.OperatorId(slice.slice));
    text_.Text(slice.kind == Kind::kKernel ? "      \"queued\": 0, \"device\": "
                                           : "      \"device\": ");
    text_.Number(source_.device);
    Field(", \"context\": 1,      \"stream\": ", slice.stream);
    Field(", \"correlation\": ", correlation);
    slice.kind == Kind::kKernel ? KernelArgs(slice) : BytesArgs(slice);
    text_.Text(layout_.close);
    Flow(false, correlation, source_.device, slice.stream, start);
  }

  void KernelArgs(const DeviceSlice& slice) {
    const KernelInfo& kernel = KernelOf(source_.engine, slice.role);
    const int64_t grid_x = GridOf(kernel, slice.rows);
    const int64_t blocks =
        grid_x * kernel.grid_y * 1'000'000 / source_.cost.hardware.multiprocessors;
    Field(",      \"registers per thread\": ", kernel.registers);
    Field(",      \"shared memory\": ", kernel.shared_memory);
    text_.Text(",      \"blocks per SM\": ");
    text_.Fixed(blocks, 6);
    text_.Text(",      \"warps per SM\": ");
    text_.Fixed(blocks * kernel.block / 32, 6);
    Field(",      \"grid\": [", grid_x);
    Field(", ", kernel.grid_y);
    Field(", 1],      \"block\": [", kernel.block);
    Field(", 1, 1],      \"est. achieved occupancy %\": ", kernel.occupancy);
    if (source_.dialect == KinetoDialect::kManyKeysALine) return;
    Field(",      \"graph id\": ", GraphIdOf(slice));
    Field(", \"graph node id\": ", GraphNodeIdOf(slice));
  }

  void BytesArgs(const DeviceSlice& slice) {
    Field(",      \"bytes\": ", slice.bytes);
    text_.Text(", \"memory bandwidth (GB/s)\": ");
    text_.Fixed(slice.bytes * 1'000'000 / slice.dur_ns, 6);
  }

  // Shows on which streams an annotation's work ran: one span per stream, which begins 1 ns before
  // that work and is 2 ns longer.
  void OnDevice(const TracedStep& step) {
    for (size_t i = 0; i < step.plan.host.size(); ++i) {
      const HostSlice& slice = step.plan.host[i];
      if (slice.kind == HostSlice::Kind::kOp || step.external_ids[i] == 0) continue;
      std::map<int, std::pair<int64_t, int64_t>> spans;
      for (size_t d = 0; d < step.plan.device.size(); ++d) {
        const DeviceSlice& work = step.plan.device[d];
        const HostCall& call = step.plan.calls[static_cast<size_t>(work.call)];
        const bool launched_inside =
            call.start_ns >= slice.start_ns && call.start_ns < slice.start_ns + slice.dur_ns;
        if (!launched_inside || !step.shows_device[d]) continue;
        const auto [it, is_first] =
            spans.try_emplace(work.stream, work.start_ns, work.start_ns + work.dur_ns);
        if (!is_first) it->second.second = std::max(it->second.second, work.start_ns + work.dur_ns);
      }
      for (const auto& [stream, span] : spans) {
        Complete("gpu_user_annotation", step.NameOf(slice));
        Span(source_.device, stream, step.origin_ns + span.first - 1, span.second - span.first + 2);
        Field("\"External id\": ", step.external_ids[i]);
        text_.Text(layout_.close);
      }
    }
  }

  const TraceSource& source_;
  const Recording& recording_;
  const KinetoLayout& layout_;
  TraceText& text_;
  int64_t event_index_ = 0;
  std::vector<std::string> inputs_;  // inputs of the current step's operators
};

}  // namespace

bool WriteKinetoTrace(const TraceSource& source, const Recording& recording, ByteSink& sink) {
  TraceText text(sink);
  const int64_t base = KinetoBaseNs(source.OnClock(recording.start_ns));
  const int64_t start = source.OnClock(recording.start_ns) - base;
  const int64_t end = source.OnClock(recording.end_ns) - base;
  const KinetoLayout& layout = LayoutOf(source.dialect);
  WriteTraceHeader(source, recording.start_ns, base, text);
  if (layout.metadata_first) WriteTraceMetadata(source, start + 70'000, text);
  EventWriter events(source, recording, text);
  if (source.content == TraceContent::kWorker) events.Host();
  if (source.with_stack && source.has_host) events.Frames(start + 60'000, end - 60'000);
  if (source.content != TraceContent::kNothing) {
    WriteProfilerSpan(layout, source.dialect, start, end, text);
  }
  if (source.content == TraceContent::kWorker) events.Device();
  if (!layout.metadata_first) WriteTraceMetadata(source, start + 70'000, text);
  WriteTraceEnd(source, end + 4'300'000, text);
  return text.Flush();
}

}  // namespace tacho::simulate
