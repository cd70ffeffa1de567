#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ingest/kineto_json/kineto_reader.h"
#include "support/event_dump.h"

namespace tacho {

struct ReadBack {
  std::vector<std::string> lines;
  TraceHeader header;
  Notes notes;
  std::string error;
};

inline ReadBack Read(std::string_view json, size_t block_size = 1 << 20, bool fast = true) {
  ReadBack result;
  EventDump dump;
  const auto stream = StreamOfMemory(json, block_size);
  const auto read = ReadKinetoJson(*stream, dump, {.fast_path = fast});
  if (!read) result.error = read.error().message;
  result.lines = dump.lines();
  result.header = dump.header();
  result.notes = dump.notes();
  return result;
}

inline std::vector<std::string> NoteIds(const Notes& notes) {
  std::vector<std::string> ids;
  for (const Note& note : notes.list()) {
    ids.push_back(std::string(KindOf(note.id).id) + " " + std::to_string(note.count));
  }
  return ids;
}

// A trace as Kineto writes it: three kernels of one shape, a host call with its flow, an instant
// and metadata.
inline std::string SmallTrace() {
  std::string events;
  for (int i = 0; i < 3; ++i) {
    const std::string n = std::to_string(i);
    events += R"(  {
    "ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7,
    "ts": )" + std::to_string(100 + 10 * i) +
              R"(.250, "dur": 5.125,
    "args": {
      "External id": )" +
              n + R"(, "device": 0, "stream": 7, "correlation": )" + std::to_string(500 + i) + R"(,
      "grid": [1, 2, 3]
    }
  },
  {
    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9,
    "ts": )" + std::to_string(90 + 10 * i) +
              R"(.000, "dur": 2.000,
    "args": { "correlation": )" +
              std::to_string(500 + i) + R"( }
  },
  {
    "ph": "s", "id": )" +
              std::to_string(500 + i) + R"(, "pid": 9, "tid": 9, "ts": )" +
              std::to_string(90 + 10 * i) + R"(.000,
    "cat": "ac2g", "name": "ac2g"
  },
)";
  }
  return R"({
  "schemaVersion": 1,
  "deviceProperties": [{"id": 0, "name": "GPU \u0041", "totalGlobalMem": 80, "numSms": 132}],
  "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8, "nccl_version": "2.27"},
  "record_shapes": 1, "cuda_runtime_version": 12090,
  "traceEvents": [
)" + events +
         R"(  {"name": "process_name", "ph": "M", "ts": 1.000, "pid": 9, "tid": 0, "args": {"name": "python"}},
  {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 200.000}
  ], "baseTimeNanoseconds": 1790857026000000000, "traceName": "x.json"
})";
}

}  // namespace tacho
