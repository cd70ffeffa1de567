#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/byte_sink.h"
#include "base/time.h"
#include "query/queried_trace.h"

namespace tacho {

// What the numbers of stacks count.
enum class StackTime : uint8_t {
  kCpu,  // of the host: the self time of each slice
  kGpu,  // of GPU work, under the stack that launched it
};

// A name as a frame of a folded stack: visible text, with ':' for ';', which separates frames.
std::string FoldedFrame(std::string_view name);

// Folded stacks, as flamegraph.pl, inferno, speedscope and Perfetto read them: lines
// "rank;process;thread;frame;...;frame NUMBER". NUMBER is the nanoseconds inside the window of the
// trace (`windows`: by trace, on its clock). Frames are Python functions, annotations, operators
// and calls; for GPU work the kernel comes last, after "(no launch in the trace)" if its launch is
// unknown. Each stack is one line. The numbers of a thread add up to the time that it spent in
// slices, the numbers of GPU work to the sum of its durations. A self time that overlaps would make
// negative counts as 0.
//
// Returns the number of lines. Memory: 4 bytes a call, and each different stack.
size_t WriteFoldedStacks(const QueriedRun& run, std::span<const Interval> windows, StackTime time,
                         ByteSink& to);

// Whether these could be lines of folded stacks: each but the last, which may be cut off, ends with
// a number after a space.
bool LooksFolded(std::string_view start);

}  // namespace tacho
