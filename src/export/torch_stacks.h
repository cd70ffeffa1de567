#pragma once

#include <span>
#include <string>

#include "base/byte_sink.h"
#include "export/folded_stacks.h"

namespace tacho {

// Writes the same as PyTorch's profile.export_stacks(path, metric)
// (torch/autograd/profiler_util.py). There is a line for each operator, annotation, call and Python
// function that is inside Python functions and whose self time (self_cpu_time_total,
// self_cuda_time_total) is at least a microsecond. The line has the Python functions around it,
// outermost first, then the self time in whole microseconds. PyTorch's own frames of a backward
// pass are left out. In names, spaces, ';' and line breaks become '_'. With a window, only slices
// that begin inside count (`windows`: by trace, on its clock). Traces are written one after the
// other.
//
// Bytes that are not UTF-8 become U+FFFD, other control characters '_'. Returns the number of
// lines. Memory: 45 bytes a host slice.
size_t WriteTorchStacks(const QueriedRun& run, std::span<const Interval> windows, StackTime time,
                        ByteSink& to);

}  // namespace tacho
