#pragma once

#include <string>

#include "analysis/analyze.h"

namespace tacho {

// What a trace says about its own figures (analysis/evidence/), in words.

// "GPU work of 35 of 40 hipGraphLaunch calls is missing: only 1 call in 8 has its work"; if
// only the end of the recording cut work off, says so; "" if nothing is lost.
std::string LossText(const LostWork& lost);
// "device 0: 100 of 100 pieces of work start before the call that launched them, by up to 200 us";
// "" if every clock is right.
std::string ClocksText(const std::vector<DeviceClock>& clocks);
// "the recording of calls and GPU work stops 1.91 s before the trace does (20 ranges like ...)"; ""
// if no recorder stopped.
std::string StopsText(const RecorderStops& stops, Interval span);
// The beginning of the line "trust" and of the answer to whether a trace can be trusted: "no event
// lost", what is missing, or that it cannot be told whether anything is.
std::string LossInWords(const TraceAnalysis& trace);
std::string LossInWords(const RunAnalysis& run);
// Whether calls launched work, and the trace has no row of any of it.
bool LacksRows(const TraceAnalysis& trace);
// Whether nothing is known to be missing, and the end of the recording did not cut off too much.
bool IsWhole(const TraceAnalysis& trace);
// Whether it is unknown when the devices were idle because work is missing.
bool LacksIdleTime(const TraceAnalysis& trace);
// "GPU work is missing in 2 of 3 traces".
std::string MissingWorkText(const RunAnalysis& run);
// Whether work that was launched is not in the trace.
bool LacksWork(const TraceAnalysis& trace);
// "12 of 400 pieces of work lie out of order or on top of each other".
std::string ImpossibleText(const ImpossibleWork& work);
// Why it is unknown when the devices were idle, if it is.
std::string WhyNoIdleTime(const TraceAnalysis& trace);
// Why there is no device time, if the recording gives a reason; else "". For a run: the reason of
// its first rank that has one, and how many ranks share it.
std::string SaidWhyNoDeviceTime(const TraceAnalysis& trace);
std::string SaidWhyNoDeviceTime(const RunAnalysis& run);
// As SaidWhyNoDeviceTime. If there is no reason, says that no work ran on a device, or that none is
// recorded.
std::string WhyNoDeviceTime(const TraceAnalysis& trace);
std::string WhyNoDeviceTime(const RunAnalysis& run);

}  // namespace tacho
