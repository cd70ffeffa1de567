#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "simulate/engine/engine.h"
#include "simulate/engine/faults.h"
#include "simulate/engine/loop.h"
#include "simulate/engine/recording.h"

namespace tacho::simulate {

// An order to record a trace of one process, which Kineto takes on demand.
struct TraceWindowOrder {
  int64_t pid = 0;
  std::string process_name;  // set for a process that is not a rank
  std::string path;
  int64_t start_unix_ns = 0, duration_ns = 0, warm_up_ns = 0;
  bool with_stack = false, record_shapes = false, profile_memory = false;
  // Both are called on the loop's thread; `done` once the trace's file exists or never will.
  std::function<void()> begun = [] {}, done = [] {};
};

// Reads a daemon's answer as Kineto does: lines KEY=VALUE; unknown keys are ignored. nullopt if it
// requests no trace, or one that would begin before Kineto can be ready: Kineto takes up to a
// second to notice a new request, and warms up before it starts. If the file's path does not lie
// below `allowed_folder` ("": anywhere is allowed) or contains "..", Kineto uses its own file name
// instead.
std::optional<TraceWindowOrder> ReadKinetoConfig(std::string_view text, int64_t pid,
                                                 int64_t now_unix_ns,
                                                 const std::string& allowed_folder = "");

// Records the window in `engine`, whatever the engine does meanwhile, and writes the trace file of
// one of the engine's ranks. `source` names the rank, as for the engine's own profiler. A step that
// crosses the window's start or end is cut as Kineto cuts it. `died` is called if a fault ends the
// process while it writes.
void RecordTraceWindow(Loop& loop, Engine& engine, TraceSource source, const Faults& faults,
                       int64_t worker, const TraceWindowOrder& order, std::function<void()> died);

// Does the same for a process that has nothing to record, such as an API server or a scheduler.
void RecordEmptyWindow(Loop& loop, TraceSource source, const TraceWindowOrder& order);

}  // namespace tacho::simulate
