#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "simulate/engine/loop.h"
#include "simulate/engine/recording.h"
#include "simulate/trace/trace_file.h"

namespace tacho::simulate {

// One trace file to be written.
struct RankFlush {
  TraceSource source;
  std::shared_ptr<const Recording> recording;
  TraceFile file;
  bool lost = false;       // a fault: the file never appears
  std::string table_path;  // where to write key_averages; "" for nowhere
  int64_t table_ns_per_step = 0;
  bool truth = false;
};

// Writes all files at the same time on other threads, then calls `done` on the loop's thread with
// their outcomes in the same order.
void FlushTraces(Loop& loop, std::vector<RankFlush> flushes,
                 std::function<void(const std::vector<FileOutcome>&)> done);

}  // namespace tacho::simulate
