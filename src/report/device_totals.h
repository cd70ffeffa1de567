#pragma once

#include <string>
#include <string_view>

#include "analysis/run_totals.h"

namespace tacho {

// The names of two parts of a device's window, for a device with missing work (DeviceTotals::whole
// is false). The first part is `busy` minus `compute`: communication and copies. The second part is
// the window minus `busy`: idle time or unrecorded work.
inline constexpr const char* kCommAndCopies = "communication and copies";
inline constexpr const char* kIdleOrUnrecorded = "idle or unrecorded work";

// "GPU", or "CPU" for an engine without a GPU.
std::string DeviceWord(const DeviceTotals& totals);

// The words for one piece of work and for all work: "kernel" and "kernels"; on a CPU engine
// "operator" and "working operators", or, if there are collectives beside the operators, "work" and
// "working operators and collectives".
std::string_view WorkWord(const DeviceTotals& totals);
std::string_view WorkWords(const DeviceTotals& totals);

// Ends a sentence about an empty table: "in this trace", or "in this part of the trace" if the user
// chose a window or a device.
std::string_view Whereabouts(const TraceAnalysis& trace);
std::string_view Whereabouts(const RunAnalysis& run);  // `run` has one trace or more

// Whether the trace is of one rank or of several; false for a front-end's trace.
bool IsWorker(const TraceAnalysis& trace);

// The trace whose screen stands for the whole run: the run's only trace, or the only trace of a
// worker (a front end may have a trace too). nullptr if there are several such traces. `run` has
// one trace or more.
const TraceAnalysis* OnlyTrace(const RunAnalysis& run);

// The rank whose steps stand for all, because all ranks of an engine run the same steps. `ranks`
// has at least one row.
const RankRow& RankOfSteps(const RankTable& ranks);
// The steps of a rank. If the rank's stages (prefill, decode) have files of their own, the steps of
// all these files.
StepTable StepsOf(const RunAnalysis& run, const RankRow& row);

}  // namespace tacho
