#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "io/sqlite.h"
#include "model/event.h"
#include "model/work_times.h"

namespace tacho {

// Which parts of a recording to read. Parts that are off cost nothing.
struct NsysParts {
  bool gpu = true;          // kernels, copies and memsets
  bool gpu_details = true;  // arguments of that GPU work
  bool calls = true;        // CUDA calls
  bool ranges = true;       // NVTX ranges
  bool os_calls = true;
  // Whole CUDA graphs, waits, the profiler's overhead, results of calls.
  bool rest = true;
  bool unended = true;  // reads rows without an end as 0 ns long; else only counts them
};

// Which parts to sum up without passing on their rows, which is many times faster. A part must not
// be both read and summed up. Either way gives the same notes.
struct NsysTimed {
  bool gpu = false;
  bool gpu_details = false;  // grids and blocks
  bool calls = false;
  bool os_calls = false;
  WorkTimes* into = nullptr;       // required if any part is summed up
  size_t threads = 1;              // 0: one per core
  size_t bytes_at_once = 1 << 20;  // how many bytes of a table a thread takes at a time
};

struct NsysReadOptions {
  // Returns the sink for one process of the recording. `part`: the name of the process's part of
  // the file ("pid=1234"; "" for a recording without events). The sink must outlive the reading.
  std::function<EventSink&(const std::string& part)> next_sink;
  // Called repeatedly with the share of the rows read so far, at most 1. May be empty.
  std::function<void(double share)> on_progress = {};
  NsysParts parts = {};
  NsysTimed timed = {};   // its sums cover all processes
  std::string only = {};  // reads only this part, such as "pid=1234"; "": all
};

// Reads the SQLite export of an Nsight Systems report (FORMAT.md). Each process that recorded
// anything goes into a sink of its own, in the order of the processes' first rows. Damaged parts
// are skipped and noted. counts.by_label counts rows by the names of their tables.
//
// A process that has only profiler overhead is a helper of nsys and gives no trace, unless all
// processes are like that.
//
// Fails with kUsage if `only` names no part; the error lists the parts of the file. Fails with
// kUnreadable only if the database is damaged before its first table, is not an nsys export, or has
// a schema of an unknown major version. Values over 16 MiB are refused.
Result<void> ReadNsysSqlite(SqliteDatabase& database, const NsysReadOptions& options);

}  // namespace tacho
