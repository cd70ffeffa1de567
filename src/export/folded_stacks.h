#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/byte_sink.h"
#include "base/time.h"
#include "query/queried_trace.h"

namespace tacho {

// What the numbers in stacks stand for.
enum class StackTime : uint8_t {
  kCpu,  // host time: the self time of each slice
  kGpu,  // time of GPU work, under the stack that launched it
};

// A name as a frame of a folded stack: visible text, with ';' replaced by ':', because ';'
// separates frames.
std::string FoldedFrame(std::string_view name);

// Writes folded stacks, which flamegraph.pl, inferno, speedscope and Perfetto read: lines
// "rank;process;thread;frame;...;frame NUMBER". NUMBER is the time in ns inside the window of the
// trace (`windows`: by trace, on its clock). Frames are Python functions, annotations, operators
// and calls. For GPU work the kernel is the last frame; if its launch is unknown, the frame before
// it is "(no launch in the trace)". Each stack has one line. The numbers of a thread add up to the
// time that it spent in slices, and those of GPU work to the sum of its durations. If slices
// overlap in a way that would make a self time negative, it counts as 0.
//
// Returns the number of lines. Memory: 4 bytes a call, plus all different stacks.
size_t WriteFoldedStacks(const QueriedRun& run, std::span<const Interval> windows, StackTime time,
                         ByteSink& to);

// Whether these may be lines of folded stacks: each line ends with a number after a space. The last
// line need not, because it may be cut off.
bool LooksFolded(std::string_view start);

}  // namespace tacho
