#include "trace_envelope.h"

#include <initializer_list>

#include "trace_shape.h"

namespace tacho::bench {
namespace {

constexpr int kDevices = 16;  // Kineto names sixteen, however many there are

}  // namespace

void TraceEnvelope::MetadataEvent(const char* name, std::int64_t pid, std::int64_t tid,
                                  std::string_view key, const std::string& value) const {
  sink_.Text(layout_.metadata);
  sink_.Text(name);
  sink_.Text(layout_.metadata_ts);
  sink_.Microseconds(start_ns_);
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

void TraceEnvelope::Process(std::int64_t pid, const std::string& label, int sort_index) const {
  MetadataEvent("process_name", pid, 0, "name", "\"VLLM::Worker\"");
  MetadataEvent("process_labels", pid, 0, "labels", "\"" + label + "\"");
  MetadataEvent("process_sort_index", pid, 0, "sort_index", std::to_string(sort_index));
}

void TraceEnvelope::Thread(std::int64_t pid, int tid, const std::string& name) const {
  MetadataEvent("thread_name", pid, tid, "name", "\"" + name + "\"");
  MetadataEvent("thread_sort_index", pid, tid, "sort_index", std::to_string(tid));
}

void TraceEnvelope::Metadata() const {
  Process(kPid, "CPU", kPid);
  for (int device = 0; device < kDevices; ++device) {
    Process(device, "GPU " + std::to_string(device), 5'000'000 + device);
  }
  for (const int stream : {kComputeStream, kCopyStream}) {
    Thread(0, stream, "stream " + std::to_string(stream) + " ");
  }
  Thread(kPid, kPid, "thread " + std::to_string(kPid) + " (VLLM::Worker)");
}

void TraceEnvelope::Header() const {
  const bool classic = options_.classic();
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
void TraceEnvelope::Trailer(std::int64_t end_ns, std::int64_t operators) const {
  const bool classic = options_.classic();
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
  const std::int64_t start_ns = start_ns_ - 95'000;
  sink_.Text("\n  {\n    ");
  if (classic) {
    list(separator, {"\"ph\": \"X\"", "\"cat\": \"Trace\"", ""});
    time("\"ts\": ", start_ns);
    time(", \"dur\": ", end_ns - start_ns);
    sink_.Text(line);
    list(separator, {"\"pid\": \"Spans\"", "\"tid\": \"PyTorch Profiler\""});
    sink_.Text(",\n    \"name\": \"PyTorch Profiler (0)\",\n    ");
  } else {
    list(separator, {"\"ph\": \"X\"", "\"cat\": \"Trace\"", "\"name\": \"PyTorch Profiler (0)\"",
                     "\"pid\": \"Spans\"", "\"tid\": \"PyTorch Profiler\"", ""});
    time("\"ts\": ", start_ns);
    time(",\n    \"dur\": ", end_ns - start_ns);
    sink_.Text("\n    ,\n    ");
  }
  sink_.Text("\"args\": {\n      \"Op count\": ");
  sink_.Number(operators);
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
  mark("\"name\": \"Record Window End\"", "\"pid\": \"\"", "\"tid\": \"\"", end_ns + 4'300'000);
  sink_.Text(classic ? "\n  ],\n  \"traceName\": \"/tmp/trace.json\"\n}"
                     : "\n  ],\"traceName\": \"/tmp/trace.json\" }");
}

}  // namespace tacho::bench
