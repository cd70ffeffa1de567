#pragma once

#include <string>

#include "analysis/analyze.h"

namespace tacho {

// What a trace says about its own figures (analysis/evidence/), in words.

// "GPU work of 35 of 40 hipGraphLaunch calls is missing: only 1 call in 8 has its work"; where
// nothing but the end of the recording cut work off, that; else "".
std::string LossText(const LostWork& lost);
// "device 0: 100 of 100 pieces of work start before the call that launched them, by up to 200 us";
// "" where every clock is right.
std::string ClocksText(const std::vector<DeviceClock>& clocks);
// "the recording of calls and GPU work stops 1.91 s before the trace does (20 ranges like ...)"; ""
// if no recorder stopped.
std::string StopsText(const RecorderStops& stops, Interval span);
// What the line "trust" begins with, as does the answer to whether a trace can be trusted: "no
// event lost", what is missing, or that nothing tells whether something is.
std::string LossInWords(const TraceAnalysis& trace);
std::string LossInWords(const RunAnalysis& run);
// Nothing is known to be missing, also not that the end of the recording cut off too much.
bool IsWhole(const TraceAnalysis& trace);
// It is not known when its devices were idle, because work is missing.
bool LacksIdleTime(const TraceAnalysis& trace);
// "GPU work is missing in 2 of 3 traces".
std::string MissingWorkText(const RunAnalysis& run);
// Work that was launched is not in it.
bool LacksWork(const TraceAnalysis& trace);
// "12 of 400 pieces of work lie out of order or on top of each other".
std::string ImpossibleText(const ImpossibleWork& work);
// Why it is not known when the devices were idle, if it is not.
std::string WhyNoIdleTime(const TraceAnalysis& trace);
// Why there is no time of a device, if something in the recording says it; else "". Of a run that
// of its first rank, and of how many something is said.
std::string SaidWhyNoDeviceTime(const TraceAnalysis& trace);
std::string SaidWhyNoDeviceTime(const RunAnalysis& run);
// The same, or that no work ran on one.
std::string WhyNoDeviceTime(const TraceAnalysis& trace);

}  // namespace tacho
