#include "trace_events.h"

#include <string>
#include <string_view>
#include <vector>

#include "trace_shape.h"

namespace tacho::bench {
namespace {

constexpr std::int64_t kMultiprocessors = 132;

// The text with the rows wherever '$' stands.
void WithRows(Sink& sink, std::string_view text, int rows) {
  for (std::size_t at; (at = text.find('$')) != std::string_view::npos;) {
    sink.Text(text.substr(0, at));
    sink.Number(rows);
    text.remove_prefix(at + 1);
  }
  sink.Text(text);
}

class EventText {
 public:
  EventText(const TraceOptions& options, StepModel& model, Sink& sink)
      : options_(options), layout_(options.Lines()), model_(model), sink_(sink) {}

  EventTotals Write(std::int64_t steps) {
    Operators(steps);
    if (options_.stack) Frames(steps);
    Device(steps);
    return totals_;
  }

 private:
  void Complete(std::string_view category, std::string_view name) {
    sink_.Text(layout_.complete);
    sink_.Text(category);
    sink_.Text(layout_.name);
    sink_.Text(name);
  }

  void Span(std::int64_t pid, std::int64_t tid, std::int64_t start_ns, std::int64_t dur_ns) {
    sink_.Text(layout_.pid);
    sink_.Number(pid);
    sink_.Text(layout_.tid);
    sink_.Number(tid);
    sink_.Text(layout_.ts);
    sink_.Microseconds(start_ns);
    sink_.Text(layout_.dur);
    sink_.Microseconds(dur_ns);
    sink_.Text(layout_.args);
  }

  void Flow(bool is_start, std::int64_t id, std::int64_t pid, std::int64_t tid, std::int64_t ts) {
    sink_.Text(is_start ? layout_.flow_start : layout_.flow_end);
    sink_.Number(id);
    sink_.Text(layout_.flow_pid);
    sink_.Number(pid);
    sink_.Text(layout_.flow_tid);
    sink_.Number(tid);
    sink_.Text(layout_.flow_ts);
    sink_.Microseconds(ts);
    sink_.Text(is_start ? layout_.flow_start_close : layout_.flow_end_close);
  }

  void ExternalId(std::int64_t id) {
    if (id == 0) return;
    sink_.Text("\"External id\": ");
    sink_.Number(id);
    sink_.Text(",");
  }

  static std::string AnnotationName(int rows) {
    const std::string count = std::to_string(rows);
    return "execute_context_0(0)_generation_" + count + "(" + count + ")";
  }

  void Operators(std::int64_t steps) {
    model_.Restart();
    for (std::int64_t i = 0; i < steps; ++i) {
      const Step& step = model_.Next();
      for (const HostEvent& event : step.host) {
        if (event.kind == NodeKind::kOp) {
          const OpShape& op = OpShapes()[static_cast<std::size_t>(event.shape)];
          Complete("cpu_op", op.name);
          Operator(event, options_.shapes ? op.inputs : nullptr);
        } else if (event.kind == NodeKind::kAnnotation) {
          Complete("user_annotation", AnnotationName(step.rows));
          Operator(event, nullptr);
        }
      }
    }
    totals_.end_ns = model_.now_ns() + 310'000;
  }

  void Operator(const HostEvent& event, const char* inputs) {
    Span(kPid, kPid, event.start_ns, event.dur_ns);
    ExternalId(event.id);
    sink_.Text("\"Record function id\": 0, ");
    if (inputs != nullptr) {
      WithRows(sink_, inputs, event.detail);
      sink_.Text(", ");
    }
    EventIndex();
    ++totals_.operators;
  }

  void EventIndex() {
    sink_.Text("\"Ev Idx\": ");
    sink_.Number(event_index_++);
    sink_.Text(layout_.close);
  }

  void Frames(std::int64_t steps) {
    std::int64_t start_ns = model_.start_ns();
    std::int64_t end_ns = totals_.end_ns;
    std::int64_t id = 0;
    for (const char* name : RootFrames()) {
      Complete("python_function", name);
      Frame(start_ns, end_ns - start_ns, id + 1, id, -1);
      ++id;
      start_ns += 2'300;
      end_ns -= 1'900;
    }
    model_.Restart();
    for (std::int64_t i = 0; i < steps; ++i) {
      for (const HostEvent& event : model_.Next().host) {
        if (event.kind != NodeKind::kPython) continue;
        const FrameName& name = model_.frames()[static_cast<std::size_t>(event.shape)];
        Complete("python_function", name.before);
        if (name.placeholder == '#') {
          sink_.Number(event.detail);
        } else if (name.placeholder != 0) {
          Address(event.shape, name.placeholder == '%' ? event.detail : 0);
        }
        sink_.Text(name.after);
        const bool is_module = name.before.starts_with("nn.Module");
        Frame(event.start_ns, event.dur_ns, event.id, event.parent, is_module ? event.detail : -1);
      }
    }
  }

  void Frame(std::int64_t start_ns, std::int64_t dur_ns, std::int64_t id, std::int64_t parent,
             int module) {
    Span(kPid, kPid, start_ns, dur_ns);
    sink_.Text("\"Python parent id\": ");
    if (parent == 0) {
      sink_.Text("null");
    } else {
      sink_.Number(parent);
    }
    sink_.Text(", \"Python id\": ");
    sink_.Number(id);
    if (module >= 0) {
      sink_.Text(", \"Python module id\": ");
      sink_.Number(module);
    }
    sink_.Text(", ");
    EventIndex();
  }

  void Address(int frame, int object) {
    std::uint64_t value = 0x7f3884000000U + static_cast<std::uint64_t>(frame) * 0x3a730U +
                          static_cast<std::uint64_t>(object) * 0x1f50U;
    char text[14];
    for (int i = 13; i >= 2; --i, value >>= 4) text[i] = "0123456789abcdef"[value & 15U];
    text[0] = '0';
    text[1] = 'x';
    sink_.Text({text, sizeof(text)});
  }

  // Calls and device events by their end, as the driver hands them over.
  void Device(std::int64_t steps) {
    struct Annotation {
      int rows;
      std::int64_t id, start_ns, end_ns;
    };
    std::vector<Annotation> annotations;
    model_.Restart();
    for (std::int64_t i = 0; i < steps; ++i) {
      const Step& step = model_.Next();
      auto device = step.device.begin();
      for (const HostEvent& call : step.host) {
        if (call.kind != NodeKind::kCall) continue;
        const std::int64_t end_ns = call.start_ns + call.dur_ns;
        for (; device != step.device.end() && device->start_ns + device->dur_ns < end_ns;
             ++device) {
          DeviceText(*device);
        }
        CallText(call);
      }
      for (; device != step.device.end(); ++device) DeviceText(*device);
      annotations.push_back(
          {step.rows, step.annotation_id, step.annotation_start_ns, step.annotation_end_ns});
    }
    for (const Annotation& annotation : annotations) {
      // Kineto draws these one nanosecond early and two longer.
      Complete("gpu_user_annotation", AnnotationName(annotation.rows));
      Span(0, kComputeStream, annotation.start_ns - 1, annotation.end_ns - annotation.start_ns + 2);
      sink_.Text("\"External id\": ");
      sink_.Number(annotation.id);
      sink_.Text(layout_.close);
    }
  }

  void CallText(const HostEvent& event) {
    const CallShape& call = CallShapes()[static_cast<std::size_t>(event.shape)];
    Complete(call.category, call.name);
    Span(kPid, kPid, event.start_ns, event.dur_ns);
    ExternalId(event.parent);
    sink_.Text("      \"cbid\": ");
    sink_.Number(call.cbid);
    sink_.Text(", \"correlation\": ");
    sink_.Number(event.id);
    sink_.Text(layout_.close);
    Flow(call.flow_start, event.id, kPid, kPid, event.start_ns);
  }

  void DeviceText(const DeviceEvent& event) {
    int stream = kComputeStream;
    if (event.is_copy) {
      const CopyShape& copy = CopyShapes()[static_cast<std::size_t>(event.shape)];
      stream = copy.stream;
      Complete("gpu_memcpy", copy.name);
      Span(0, stream, event.start_ns, event.dur_ns);
      ExternalId(event.external_id);
      sink_.Text("      \"device\": 0, \"context\": 1,      \"stream\": ");
      CopyArgs(event, copy);
    } else {
      const KernelShape& kernel = KernelShapes()[static_cast<std::size_t>(event.shape)];
      Complete("kernel", kernel.name);
      Span(0, stream, event.start_ns, event.dur_ns);
      ExternalId(event.external_id);
      sink_.Text("      \"queued\": 0, \"device\": 0, \"context\": 1,      \"stream\": ");
      KernelArgs(event, kernel);
    }
    sink_.Text(layout_.close);
    Flow(false, event.correlation, 0, stream, event.start_ns);
  }

  void StreamAndCorrelation(const DeviceEvent& event, int stream) {
    sink_.Number(stream);
    sink_.Text(", \"correlation\": ");
    sink_.Number(event.correlation);
  }

  void CopyArgs(const DeviceEvent& event, const CopyShape& copy) {
    const std::int64_t bytes = copy.bytes_fixed + std::int64_t{copy.bytes_per_row} * event.rows;
    StreamAndCorrelation(event, copy.stream);
    sink_.Text(",      \"bytes\": ");
    sink_.Number(bytes);
    sink_.Text(", \"memory bandwidth (GB/s)\": ");
    sink_.Real(static_cast<double>(bytes) / static_cast<double>(event.dur_ns));
  }

  void KernelArgs(const DeviceEvent& event, const KernelShape& kernel) {
    const std::int64_t grid_x = kernel.grid_fixed + kernel.grid_per_row * event.rows;
    const std::int64_t blocks = grid_x * kernel.grid_y * 1'000'000 / kMultiprocessors;
    StreamAndCorrelation(event, kComputeStream);
    sink_.Text(",      \"registers per thread\": ");
    sink_.Number(kernel.registers);
    sink_.Text(",      \"shared memory\": ");
    sink_.Number(kernel.shared_memory);
    sink_.Text(",      \"blocks per SM\": ");
    sink_.Millionths(blocks);
    sink_.Text(",      \"warps per SM\": ");
    sink_.Millionths(blocks * kernel.block / 32);
    sink_.Text(",      \"grid\": [");
    sink_.Number(grid_x);
    sink_.Text(", ");
    sink_.Number(kernel.grid_y);
    sink_.Text(", 1],      \"block\": [");
    sink_.Number(kernel.block);
    sink_.Text(", 1, 1],      \"est. achieved occupancy %\": ");
    sink_.Number(kernel.occupancy);
    if (options_.classic()) return;
    sink_.Text(",      \"graph id\": ");
    sink_.Number(event.graph_node == 0 ? 0 : 3);
    sink_.Text(", \"graph node id\": ");
    sink_.Number(event.graph_node);
  }

  const TraceOptions& options_;
  const simulate::KinetoLayout& layout_;
  StepModel& model_;
  Sink& sink_;
  std::int64_t event_index_ = 0;
  EventTotals totals_;
};

}  // namespace

EventTotals WriteEvents(const TraceOptions& options, std::int64_t steps, StepModel& model,
                        Sink& sink) {
  return EventText(options, model, sink).Write(steps);
}

}  // namespace tacho::bench
