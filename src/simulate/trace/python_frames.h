#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/trace/trace_steps.h"

namespace tacho::simulate {

// One Python call, as a profiler that records stacks sees it.
struct PythonFrame {
  std::string name;
  int64_t start_ns = 0, dur_ns = 0;  // by the trace's clock
  int parent = -1;                   // index in the list; -1: the last of RootFrames
};

// The frames that stay open during the whole trace, outermost first.
const std::vector<std::string>& RootFrames(SimulatedEngine engine);
// The frames of one step: those around its execution, and one or two around each operator. A real
// engine has far more frames, of the same form.
std::vector<PythonFrame> FramesOf(SimulatedEngine engine, const TracedStep& step);

}  // namespace tacho::simulate
