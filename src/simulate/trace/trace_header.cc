#include "simulate/trace/trace_header.h"

#include <fmt/format.h>

#include <initializer_list>
#include <vector>

#include "base/json_text.h"
#include "base/random.h"

namespace tacho::simulate {
namespace {

constexpr int kAnnouncedDevices = 8;  // Kineto lists this many devices, whether they exist or not

void WriteDeviceProperties(const TraceSource& source, TraceText& text) {
  text.Text("\n    \"deviceProperties\": [");
  for (int id = 0; id < source.visible_devices && source.content == TraceContent::kWorker; ++id) {
    const Hardware& hardware = source.cost.hardware;
    text.Text(fmt::format(
        R"({}
    {{
      "id": {}, "name": "{}", "totalGlobalMem": {},
      "computeMajor": {}, "computeMinor": {},
      "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048,
      "regsPerBlock": 65536, "warpSize": 32,
      "sharedMemPerBlock": 49152, "numSms": {}
    , "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 232448, "sharedMemPerMultiprocessor": 233472
    }})",
        id == 0 ? "" : ",", id, hardware.device_name, hardware.memory_bytes, hardware.compute_major,
        hardware.compute_minor, hardware.multiprocessors));
  }
  const bool empty = source.content != TraceContent::kWorker;
  text.Text(empty ? "]," : "\n    ],");
}

std::string DistributedInfo(const TraceSource& source) {
  std::string ranks;
  for (int rank = 0; rank < source.world_size; ++rank) {
    ranks += fmt::format("{}{}", rank == 0 ? "" : ", ", rank);
  }
  std::string groups;
  constexpr int kWorldGroups = 5, kOwnGroups = 8;  // numbers of process groups in a dense model
  for (int group = 0; group < kWorldGroups + kOwnGroups; ++group) {
    const bool whole = group < kWorldGroups;
    groups += fmt::format(
        R"({}{{"pg_name": "{}", "pg_desc": "{}", "backend_config": "cuda:nccl", "pg_size": {}, "ranks": [{}]}})",
        group == 0 ? "" : ", ", group, group == 0 ? "default_pg" : "undefined",
        whole ? source.world_size : 1, whole ? ranks : std::to_string(source.rank));
  }
  return fmt::format(
      R"({{"backend": "nccl", "rank": {}, "world_size": {}, "pg_count": {}, "pg_config": [{}], "nccl_version": "2.27.5"}})",
      source.rank, source.world_size, kWorldGroups + kOwnGroups, groups);
}

std::string VersionTuple(const std::string& version) {
  std::string tuple;
  for (size_t begin = 0; begin <= version.size();) {
    const size_t end = std::min(version.find('.', begin), version.size());
    tuple += fmt::format("{}\"{}\"", tuple.empty() ? "" : ", ", version.substr(begin, end - begin));
    begin = end + 1;
  }
  return "[" + tuple + "]";
}

class Metadata {
 public:
  Metadata(const KinetoLayout& layout, int64_t ts_ns, TraceText& text)
      : layout_(layout), ts_ns_(ts_ns), text_(text) {}

  void Event(const char* name, int64_t pid, int64_t tid, std::string_view key,
             const std::string& value) {
    text_.Text(layout_.metadata);
    text_.Text(name);
    text_.Text(layout_.metadata_ts);
    text_.Microseconds(ts_ns_);
    text_.Text(layout_.metadata_pid);
    text_.Number(pid);
    text_.Text(layout_.metadata_tid);
    text_.Number(tid);
    text_.Text(layout_.metadata_args);
    text_.Text(key);
    text_.Text("\": ");
    text_.Text(value);
    text_.Text(layout_.close);
  }
  void Process(int64_t pid, const std::string& name, const std::string& label, int64_t sort) {
    Event("process_name", pid, 0, "name", QuoteJson(name));
    Event("process_labels", pid, 0, "labels", QuoteJson(label));
    Event("process_sort_index", pid, 0, "sort_index", std::to_string(sort));
  }
  void Thread(int64_t pid, int64_t tid, const std::string& name) {
    Event("thread_name", pid, tid, "name", QuoteJson(name));
    Event("thread_sort_index", pid, tid, "sort_index", std::to_string(tid));
  }

 private:
  const KinetoLayout& layout_;
  int64_t ts_ns_;
  TraceText& text_;
};

// Writes the header lines that torch.profiler and the engine add.
template <typename Line>
void WriteSession(const TraceSource& source, int64_t session_ns, const Line& line) {
  if (source.with_flops) line("\"with_flops\": 1");
  if (source.record_shapes) line("\"record_shapes\": 1");
  if (source.profile_memory) line("\"profile_memory\": 1");
  if (source.with_stack) line("\"with_stack\": 1");
  const uint64_t id =
      HashNumber(source.seed ^ static_cast<uint64_t>(source.pid) ^
                 static_cast<uint64_t>(session_ns) ^ HashNumber(source.trace_name.size()));
  line(fmt::format("\"trace_id\": \"{:016X}{:016X}\"", HashNumber(id), HashNumber(id + 1)));
  if (source.stamps_version) line("\"vllm_version_tuple\": " + VersionTuple(source.version));
  if (source.content == TraceContent::kWorker)
    line("\"distributedInfo\": " + DistributedInfo(source));
  if (source.stamps_version) line("\"vllm_version\": " + QuoteJson(source.version));
}

void WriteFields(std::initializer_list<std::string_view> fields, std::string_view between,
                 TraceText& text) {
  std::string_view before;
  for (const std::string_view field : fields) {
    text.Text(before);
    text.Text(field);
    before = between;
  }
}

}  // namespace

void WriteTraceHeader(const TraceSource& source, int64_t session_ns, int64_t base_ns,
                      TraceText& text) {
  const bool one_key = source.dialect == KinetoDialect::kOneKeyALine;
  text.Text(one_key ? " {" : "\n  {");
  text.Text("\n    \"schemaVersion\": 1,");
  WriteDeviceProperties(source, text);
  if (one_key) text.Text("\n    ");
  const auto line = [&](const std::string& field) { text.Text("\n      " + field + ","); };
  if (source.content == TraceContent::kWorker) {
    line("\"cupti_version\": 28");
    line("\"cuda_runtime_version\": 12090");
    line("\"cuda_driver_version\": 13000");
  }
  if (!source.on_demand) WriteSession(source, session_ns, line);
  if (one_key) line("\"host_name\": " + QuoteJson(source.host_name));
  const std::string_view indent = one_key ? "\n    " : "\n  ";
  text.Text(indent);
  text.Text("\"displayTimeUnit\": \"ms\",");
  text.Text(indent);
  text.Text("\"baseTimeNanoseconds\": ");
  text.Number(base_ns);
  text.Text(",");
  text.Text(indent);
  text.Text("\"traceEvents\": [");
  if (one_key) text.Text("\n    ");
}

void WriteTraceMetadata(const TraceSource& source, int64_t start_ns, TraceText& text) {
  Metadata metadata(LayoutOf(source.dialect), start_ns, text);
  metadata.Process(source.pid, source.process_name, "CPU", source.pid);
  if (source.content == TraceContent::kWorker) {
    for (int device = 0; device < kAnnouncedDevices; ++device) {
      metadata.Process(device, source.process_name, fmt::format("GPU {}", device),
                       5'000'000 + device);
    }
    std::vector<int> streams = {kComputeStream, kCopyStream};
    if (source.cost.model.shared > 0) streams.push_back(kSideStream);
    for (const int stream : streams) {
      metadata.Thread(source.device, stream, fmt::format("stream {} ", stream));
    }
  }
  if (source.content == TraceContent::kNothing) return;
  // The kernel keeps fifteen characters of a thread's name.
  for (int i = 0; i < 2; ++i) {
    metadata.Thread(source.pid, source.pid,
                    fmt::format("thread {} ({})", source.pid, source.process_name.substr(0, 15)));
  }
}

void WriteProfilerSpan(const KinetoLayout& layout, KinetoDialect dialect, int64_t start_ns,
                       int64_t end_ns, TraceText& text) {
  const bool one_key = dialect == KinetoDialect::kOneKeyALine;
  const std::string_view between = one_key ? ",\n    " : ", ";
  const std::string_view line = ",\n    ";
  text.Text("\n  {\n    ");
  if (one_key) {
    WriteFields({"\"ph\": \"X\"", "\"cat\": \"Trace\"", "\"name\": \"PyTorch Profiler (0)\"",
                 "\"pid\": \"Spans\"", "\"tid\": \"PyTorch Profiler\"", "\"ts\": "},
                between, text);
    text.Microseconds(start_ns);
    text.Text(",\n    \"dur\": ");
    text.Microseconds(end_ns - start_ns);
    text.Text("\n    ,\n    ");
  } else {
    WriteFields({"\"ph\": \"X\"", "\"cat\": \"Trace\"", "\"ts\": "}, between, text);
    text.Microseconds(start_ns);
    text.Text(", \"dur\": ");
    text.Microseconds(end_ns - start_ns);
    text.Text(line);
    WriteFields({"\"pid\": \"Spans\"", "\"tid\": \"PyTorch Profiler\""}, between, text);
    text.Text(",\n    \"name\": \"PyTorch Profiler (0)\",\n    ");
  }
  text.Text("\"args\": {\n      \"Op count\": 0");
  text.Text(layout.close);

  text.Text(layout.metadata);
  text.Text("process_sort_index");
  text.Text(layout.metadata_ts);
  text.Microseconds(start_ns);
  text.Text(line);
  WriteFields({"\"pid\": \"Spans\"", "\"tid\": 0"}, between, text);
  text.Text(layout.metadata_args);
  text.Text("sort_index\": 536870912");
  text.Text(layout.close);

  text.Text("\n  {\n    ");
  if (one_key) {
    text.Text("\"ph\": \"i\",\n    \n    ");
    WriteFields({"\"s\": \"g\"", "\"name\": \"Iteration Start: PyTorch Profiler\"",
                 "\"pid\": \"Traces\"", "\"tid\": \"Trace PyTorch Profiler\"", "\"ts\": "},
                between, text);
    text.Microseconds(start_ns);
    text.Text("\n    \n  },");
  } else {
    WriteFields(
        {"\"name\": \"Iteration Start: PyTorch Profiler\"", "\"ph\": \"i\"", "\"s\": \"g\""},
        between, text);
    text.Text(line);
    WriteFields({"\"pid\": \"Traces\"", "\"tid\": \"Trace PyTorch Profiler\"", "\"ts\": "}, between,
                text);
    text.Microseconds(start_ns);
    text.Text("\n  },");
  }
}

void WriteTraceEnd(const TraceSource& source, int64_t end_ns, TraceText& text) {
  if (source.dialect == KinetoDialect::kOneKeyALine) {
    text.Text(
        "\n  {\n    \"ph\": \"i\",\n    \n    \"s\": \"g\",\n    \"name\": \"Record Window "
        "End\",\n    \"pid\": \"\",\n    \"tid\": \"\",\n    \"ts\": ");
    text.Microseconds(end_ns);
    text.Text("\n    \n  }\n  ],\"traceName\": ");
    text.Text(QuoteJson(source.trace_name));
    text.Text(" }");
    return;
  }
  text.Text(
      "\n  {\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": "
      "\"\", "
      "\"tid\": \"\", \"ts\": ");
  text.Microseconds(end_ns);
  text.Text("\n  }\n  ],\n  \"traceName\": ");
  text.Text(QuoteJson(source.trace_name));
  text.Text("\n}");
}

}  // namespace tacho::simulate
