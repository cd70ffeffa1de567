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

// A trace of one process that Kineto takes on demand.
struct TraceWindowOrder {
  int64_t pid = 0;
  std::string process_name;  // of a process that is not a rank
  std::string path;
  int64_t start_unix_ns = 0, duration_ns = 0, warm_up_ns = 0;
  bool with_stack = false, record_shapes = false, profile_memory = false;
  // Called on the loop's thread: `done` once its file exists, or never will.
  std::function<void()> begun = [] {}, done = [] {};
};

// Reads a daemon's answer as Kineto does: lines KEY=VALUE; unknown keys are ignored. nullopt if no
// trace is requested, or if it would begin before Kineto can be ready: Kineto looks at a new
// request after up to a second and warms up before it starts. If the path of the file does not
// begin with `allowed_folder` ("": any path may) or contains "..", Kineto's own file is taken
// instead.
std::optional<TraceWindowOrder> ReadKinetoConfig(std::string_view text, int64_t pid,
                                                 int64_t now_unix_ns,
                                                 const std::string& allowed_folder = "");

// Records the window in `engine`, whatever the engine does meanwhile, and writes the file of one of
// its ranks; `source` as for the engine's own profiler. Steps across an end of the window are cut
// as Kineto cuts them. `died` is called if a fault ends the process while it writes.
void RecordTraceWindow(Loop& loop, Engine& engine, TraceSource source, const Faults& faults,
                       int64_t worker, const TraceWindowOrder& order, std::function<void()> died);

// The same for a process that has nothing to record: an API server, a scheduler.
void RecordEmptyWindow(Loop& loop, TraceSource source, const TraceWindowOrder& order);

}  // namespace tacho::simulate
