// generate_trace: a Kineto trace of a wanted size, the same bytes for the same arguments.
//
// Steps come from step_model.h. The file is written as Kineto writes it: operators, then Python
// frames, then calls and device events with their flows, each step anew in each of these passes;
// ids are counted alike in all of them, so nothing is kept.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "simulate/kineto_text.h"
#include "step_model.h"
#include "trace_shape.h"
#include "trace_writer.h"

namespace tacho::bench {
namespace {

constexpr int kPid = 13702;
constexpr int kDevices = 16;  // Kineto names sixteen, however many there are
constexpr std::int64_t kMultiprocessors = 132;
constexpr int kSizingSteps = 8;

struct Options {
  std::uint64_t bytes = 0;
  char layout = 'a';
  bool stack = true;
  bool shapes = true;
  std::uint64_t seed = 1;
  const char* output = nullptr;
};

// The text with the rows wherever '$' stands.
void WithRows(Sink& sink, std::string_view text, int rows) {
  for (std::size_t at; (at = text.find('$')) != std::string_view::npos;) {
    sink.Text(text.substr(0, at));
    sink.Number(rows);
    text.remove_prefix(at + 1);
  }
  sink.Text(text);
}

class TraceText {
 public:
  TraceText(const Options& options, Sink& sink)
      : options_(options),
        layout_(simulate::LayoutOf(options.layout == 'a' ? simulate::KinetoDialect::kManyKeysALine
                                                         : simulate::KinetoDialect::kOneKeyALine)),
        sink_(sink),
        model_(options.seed) {}

  void Write(std::int64_t steps) {
    Header();
    if (layout_.metadata_first) Metadata();
    Operators(steps);
    if (options_.stack) Frames(steps);
    Device(steps);
    if (!layout_.metadata_first) Metadata();
    Trailer();
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
    end_ns_ = model_.now_ns() + 310'000;
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
    ++operators_;
  }

  void EventIndex() {
    sink_.Text("\"Ev Idx\": ");
    sink_.Number(event_index_++);
    sink_.Text(layout_.close);
  }

  void Frames(std::int64_t steps) {
    std::int64_t start_ns = model_.start_ns();
    std::int64_t end_ns = end_ns_;
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
    if (options_.layout == 'a') return;
    sink_.Text(",      \"graph id\": ");
    sink_.Number(event.graph_node == 0 ? 0 : 3);
    sink_.Text(", \"graph node id\": ");
    sink_.Number(event.graph_node);
  }

  void MetadataEvent(const char* name, std::int64_t pid, std::int64_t tid, std::string_view key,
                     const std::string& value) {
    sink_.Text(layout_.metadata);
    sink_.Text(name);
    sink_.Text(layout_.metadata_ts);
    sink_.Microseconds(model_.start_ns());
    sink_.Text(layout_.metadata_pid);
    sink_.Number(pid);
    sink_.Text(layout_.metadata_tid);
    sink_.Number(tid);
    sink_.Text(layout_.metadata_args);
    sink_.Text(key);
    sink_.Text("\": ");
    sink_.Text(value);
    sink_.Text(layout_.close);
  }

  void Process(std::int64_t pid, const std::string& label, int sort_index) {
    MetadataEvent("process_name", pid, 0, "name", "\"VLLM::Worker\"");
    MetadataEvent("process_labels", pid, 0, "labels", "\"" + label + "\"");
    MetadataEvent("process_sort_index", pid, 0, "sort_index", std::to_string(sort_index));
  }

  void Thread(std::int64_t pid, int tid, const std::string& name) {
    MetadataEvent("thread_name", pid, tid, "name", "\"" + name + "\"");
    MetadataEvent("thread_sort_index", pid, tid, "sort_index", std::to_string(tid));
  }

  void Metadata() {
    Process(kPid, "CPU", kPid);
    for (int device = 0; device < kDevices; ++device) {
      Process(device, "GPU " + std::to_string(device), 5'000'000 + device);
    }
    for (const int stream : {kComputeStream, kCopyStream}) {
      Thread(0, stream, "stream " + std::to_string(stream) + " ");
    }
    Thread(kPid, kPid, "thread " + std::to_string(kPid) + " (VLLM::Worker)");
  }

  void Header() {
    const bool classic = options_.layout == 'a';
    sink_.Text(classic ? "\n  {" : " {");
    sink_.Text(R"(
    "schemaVersion": 1,
    "deviceProperties": [
    {
      "id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85018279936,
      "computeMajor": 9, "computeMinor": 0,
      "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048,
      "regsPerBlock": 65536, "warpSize": 32,
      "sharedMemPerBlock": 49152, "numSms": 132
    , "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 232448
    , "sharedMemPerMultiprocessor": 233472
    }
    ],)");
    if (!classic) sink_.Text("\n    ");
    sink_.Text(R"(
      "cupti_version": 26,
      "cuda_runtime_version": 12080,
      "cuda_driver_version": 12080,)");
    if (options_.shapes) sink_.Text("\n      \"record_shapes\": 1,");
    if (options_.stack) sink_.Text("\n      \"with_stack\": 1,");
    sink_.Text(R"(
      "trace_id": "706888C6D6DC4D9B9EEE209F57BFC718",
      "distributedInfo": )");
    sink_.Text(R"({"backend": "nccl", "rank": 0, "world_size": 1, "pg_count": 1, )");
    sink_.Text(R"("pg_config": [{"pg_name": "0", "pg_desc": "default_pg", )");
    sink_.Text(R"("backend_config": "cpu:gloo,cuda:nccl", "pg_size": 1, "ranks": [0]}], )");
    sink_.Text(R"("nccl_version": "2.27.5"},)");
    const std::string_view indent = classic ? "\n  " : "\n    ";
    sink_.Text(indent);
    sink_.Text("\"displayTimeUnit\": \"ms\",");
    sink_.Text(indent);
    sink_.Text("\"baseTimeNanoseconds\": 1751410836000000000,");
    sink_.Text(indent);
    sink_.Text("\"traceEvents\": [");
    if (!classic) sink_.Text("\n    ");
  }

  // The span of the profiler, its marks, and what follows the events.
  void Trailer() {
    const bool classic = options_.layout == 'a';
    const std::string_view separator = classic ? ", " : ",\n    ";
    const std::string_view line = ",\n    ";
    const std::string_view instant = classic ? "\"ph\": \"i\"" : "\"ph\": \"i\",\n    ";
    const auto time = [this](std::string_view key, std::int64_t ns) {
      sink_.Text(key);
      sink_.Microseconds(ns);
    };
    const auto list = [this](std::string_view between, std::initializer_list<const char*> fields) {
      std::string_view before;
      for (const char* field : fields) {
        sink_.Text(before);
        sink_.Text(field);
        before = between;
      }
    };
    const std::int64_t start_ns = model_.start_ns() - 95'000;
    sink_.Text("\n  {\n    ");
    if (classic) {
      list(separator, {"\"ph\": \"X\"", "\"cat\": \"Trace\"", ""});
      time("\"ts\": ", start_ns);
      time(", \"dur\": ", end_ns_ - start_ns);
      sink_.Text(line);
      list(separator, {"\"pid\": \"Spans\"", "\"tid\": \"PyTorch Profiler\""});
      sink_.Text(",\n    \"name\": \"PyTorch Profiler (0)\",\n    ");
    } else {
      list(separator, {"\"ph\": \"X\"", "\"cat\": \"Trace\"", "\"name\": \"PyTorch Profiler (0)\"",
                       "\"pid\": \"Spans\"", "\"tid\": \"PyTorch Profiler\"", ""});
      time("\"ts\": ", start_ns);
      time(",\n    \"dur\": ", end_ns_ - start_ns);
      sink_.Text("\n    ,\n    ");
    }
    sink_.Text("\"args\": {\n      \"Op count\": ");
    sink_.Number(operators_);
    sink_.Text(layout_.close);

    sink_.Text(layout_.metadata);
    sink_.Text("process_sort_index");
    sink_.Text(layout_.metadata_ts);
    sink_.Microseconds(start_ns);
    sink_.Text(line);
    list(separator, {"\"pid\": \"Spans\"", "\"tid\": 0"});
    sink_.Text(layout_.metadata_args);
    sink_.Text("sort_index\": 536870912");
    sink_.Text(layout_.close);

    const auto mark = [&](const char* name, const char* pid, const char* tid, std::int64_t ns) {
      sink_.Text("\n  {\n    ");
      if (classic) {
        list(separator, {name, "\"ph\": \"i\"", "\"s\": \"g\""});
        sink_.Text(line);
        list(separator, {pid, tid, ""});
      } else {
        sink_.Text(instant);
        sink_.Text("\n    ");
        list(separator, {"\"s\": \"g\"", name, pid, tid, ""});
      }
      time("\"ts\": ", ns);
      sink_.Text(classic ? "\n  }" : "\n    \n  }");
    };
    mark("\"name\": \"Iteration Start: PyTorch Profiler\"", "\"pid\": \"Traces\"",
         "\"tid\": \"Trace PyTorch Profiler\"", start_ns);
    sink_.Text(",");
    mark("\"name\": \"Record Window End\"", "\"pid\": \"\"", "\"tid\": \"\"", end_ns_ + 4'300'000);
    sink_.Text(classic ? "\n  ],\n  \"traceName\": \"/tmp/trace.json\"\n}"
                       : "\n  ],\"traceName\": \"/tmp/trace.json\" }");
  }

  const Options& options_;
  const simulate::KinetoLayout& layout_;
  Sink& sink_;
  StepModel model_;
  std::int64_t event_index_ = 0;
  std::int64_t operators_ = 0;
  std::int64_t end_ns_ = 0;
};

// How many steps make the wanted size, from the size of a few.
std::int64_t StepsFor(const Options& options) {
  const auto bytes_of = [&options](std::int64_t steps) {
    Sink sink(nullptr);
    TraceText(options, sink).Write(steps);
    return sink.bytes();
  };
  const std::int64_t empty = bytes_of(0);
  const std::int64_t some = bytes_of(kSizingSteps) - empty;
  const std::int64_t wanted = static_cast<std::int64_t>(options.bytes) - empty;
  return std::max<std::int64_t>(1, wanted / (some / kSizingSteps));
}

constexpr char kHelp[] =
    "usage: generate_trace --bytes N [--layout a|b] [--stack 0|1] [--shapes 0|1] [--seed S]\n"
    "                      [--output FILE]\n"
    "\n"
    "Writes a synthetic Kineto trace of about N bytes of JSON to FILE or to standard output.\n"
    "\n"
    "  --layout a   several keys on a line, as Kineto wrote until early 2026 (default)\n"
    "  --layout b   one key on a line, as it writes since\n"
    "  --stack 1    Python frames (default 1)\n"
    "  --shapes 1   shapes, strides and types of the operators' inputs (default 1)\n"
    "  --seed S     another trace of the same kind (default 1)\n";

bool Whole(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

int UsageError(const std::string& message) {
  std::fprintf(stderr, "generate_trace: %s\n%s", message.c_str(), kHelp);
  return 2;
}

int Main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--help") {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (i + 1 == argc) return UsageError(std::string(flag) + " needs a value");
    const char* value = argv[++i];
    const bool is_bit = std::strcmp(value, "0") == 0 || std::strcmp(value, "1") == 0;
    if (flag == "--bytes" && Whole(value, options.bytes)) {
      if (options.bytes == 0) return UsageError("--bytes must not be 0");
    } else if (flag == "--layout" && (*value == 'a' || *value == 'b') && value[1] == 0) {
      options.layout = value[0];
    } else if (flag == "--stack" && is_bit) {
      options.stack = value[0] == '1';
    } else if (flag == "--shapes" && is_bit) {
      options.shapes = value[0] == '1';
    } else if (flag == "--seed" && Whole(value, options.seed)) {
      // Taken.
    } else if (flag == "--output") {
      options.output = value;
    } else {
      return UsageError("cannot take " + std::string(flag) + " " + value);
    }
  }
  if (options.bytes == 0) return UsageError("--bytes is needed");

  std::FILE* file = options.output == nullptr ? stdout : std::fopen(options.output, "wb");
  if (file == nullptr) {
    std::fprintf(stderr, "generate_trace: %s: %s\n", options.output, std::strerror(errno));
    return 3;
  }
  std::setvbuf(file, nullptr, _IONBF, 0);
  Sink sink(file);
  TraceText(options, sink).Write(StepsFor(options));
  const bool written = sink.Flush();
  if (std::fclose(file) != 0 || !written) {
    std::fprintf(stderr, "generate_trace: cannot write %s\n",
                 options.output == nullptr ? "to standard output" : options.output);
    return 3;
  }
  return 0;
}

}  // namespace
}  // namespace tacho::bench

int main(int argc, char** argv) { return tacho::bench::Main(argc, argv); }
