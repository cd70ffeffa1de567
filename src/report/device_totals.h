#pragma once

#include <string>
#include <string_view>

#include "analysis/run_totals.h"

namespace tacho {

// Names for parts of the window of a device that is not whole: `busy` minus `compute` is
// communication and copies; the window minus `busy` may be idle time or unrecorded work.
inline constexpr const char* kCommAndCopies = "communication and copies";
inline constexpr const char* kIdleOrUnrecorded = "idle or unrecorded work";

// "GPU", or "CPU" for an engine without a GPU.
std::string DeviceWord(const DeviceTotals& totals);

// The words for one piece of work and for all work: "kernel" and "kernels"; on a CPU engine
// "operator" and "working operators", or, if there are collectives beside the operators, "work" and
// "working operators and collectives".
std::string_view WorkWord(const DeviceTotals& totals);
std::string_view WorkWords(const DeviceTotals& totals);

// The words for where an empty table found nothing: "in this trace", or "in this part of the trace"
// if a window or a device was asked for.
std::string_view Whereabouts(const TraceAnalysis& trace);
std::string_view Whereabouts(const RunAnalysis& run);  // of one trace or more

// True for the trace of a rank, or of several; false for a front-end's trace.
bool IsWorker(const TraceAnalysis& trace);

// The trace whose screen stands for the whole run: the only trace, or the only worker's trace
// beside those of front ends; nullptr if there are several. `run` has one trace or more.
const TraceAnalysis* OnlyTrace(const RunAnalysis& run);

// The rank whose steps are shown: all ranks of an engine run the same steps. `ranks` has at least
// one row.
const RankRow& RankOfSteps(const RankTable& ranks);
// The steps of a rank, including those of its stages that have files of their own.
StepTable StepsOf(const RunAnalysis& run, const RankRow& row);

}  // namespace tacho
