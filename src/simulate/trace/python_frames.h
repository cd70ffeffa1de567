#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/trace/trace_steps.h"

namespace tacho::simulate {

// One call of Python as the profiler sees it with stacks.
struct PythonFrame {
  std::string name;
  int64_t start_ns = 0, dur_ns = 0;  // on the trace's clock
  int parent = -1;                   // index in the list; -1: the innermost of the roots
};

// The frames that are open all the time, outermost first.
const std::vector<std::string>& RootFrames(SimulatedEngine engine);
// The frames of one step: those around its execution, and one around each operator. Far fewer than
// a real engine has, in the same form.
std::vector<PythonFrame> FramesOf(SimulatedEngine engine, const TracedStep& step);

}  // namespace tacho::simulate
