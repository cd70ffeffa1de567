#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "io/sqlite.h"
#include "model/event.h"
#include "model/work_times.h"

namespace tacho {

// The parts of a recording to read. Parts that are off cost nothing.
struct NsysParts {
  bool gpu = true;          // kernels, copies and memsets
  bool gpu_details = true;  // their arguments
  bool calls = true;        // CUDA calls
  bool ranges = true;       // NVTX ranges
  bool os_calls = true;
  bool rest = true;     // graphs as a whole, waits, the profiler's overhead, results of calls
  bool unended = true;  // rows without an end, as 0 ns long; else they are only counted
};

// The parts to sum up without passing on their rows, which is many times faster. A part must not be
// both read and summed up. Its notes are the same either way.
struct NsysTimed {
  bool gpu = false;
  bool gpu_details = false;  // grids and blocks
  bool calls = false;
  bool os_calls = false;
  WorkTimes* into = nullptr;       // required if any part is summed up
  size_t threads = 1;              // 0: one for each core
  size_t bytes_at_once = 1 << 20;  // how much of a table a thread takes at a time
};

struct NsysReadOptions {
  // Returns the sink for one process of the recording, by the name of its part of the file
  // ("pid=1234"; "" for a recording without an event). The sink must outlive the reading.
  std::function<EventSink&(const std::string& part)> next_sink;
  // Called repeatedly with the share of the rows that were read so far, at most 1. Optional.
  std::function<void(double share)> on_progress = {};
  NsysParts parts = {};
  NsysTimed timed = {};   // sums over all processes
  std::string only = {};  // the part to read, "pid=1234"; "": all
};

// Reads the SQLite export of an Nsight Systems report (FORMAT.md), each process that recorded
// anything into a sink of its own, in the order of their first rows. Damaged parts are skipped and
// noted. counts.by_label counts by the names of the tables.
//
// A process with nothing but the profiler's overhead is a helper of nsys and no trace, unless all
// processes are like that.
//
// Fails with kUsage if `only` names no part; the error lists the parts that there are. Fails with
// kUnreadable only if the database is damaged before its first table, is not an nsys export, or has
// a schema of an unknown major version. Values of over 16 MiB are refused.
Result<void> ReadNsysSqlite(SqliteDatabase& database, const NsysReadOptions& options);

}  // namespace tacho
