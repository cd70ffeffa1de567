#pragma once

#include <string>

#include "analysis/analyze.h"

namespace tacho {

// Whether the data of a trace can be trusted (analysis/evidence/), in words.

// Which work is missing: "GPU work of 35 of 40 hipGraphLaunch calls is missing: only 1 call in 8
// has its work"; if work is missing only because the recording ended before it, says that; "" if
// nothing is lost.
std::string LossText(const LostWork& lost);
// Which device clocks are wrong: "all 100 launched pieces of work start before their launch call,
// by up to 200 us: the clock of device 0 is behind the host's by 200 us or more"; "" if every clock
// is right.
std::string ClocksText(const std::vector<DeviceClock>& clocks);
// When the recorder stopped early: "the recording of calls and GPU work stops 1.91 s before the
// trace does (20 ranges like ...)"; "" if no recorder stopped.
std::string StopsText(const RecorderStops& stops, Interval span);
// The text that begins the line "trust" and the answer about trust: "no event lost", or what is
// missing, or that it is unknown whether anything is missing.
std::string LossInWords(const TraceAnalysis& trace);
std::string LossInWords(const RunAnalysis& run);
// Whether calls launched work, but the trace has no GPU work at all.
bool LacksRows(const TraceAnalysis& trace);
// Whether the trace has events, no data is known to be missing, and idle time is known.
bool IsWhole(const TraceAnalysis& trace);
// Whether missing work makes it unknown when the devices were idle.
bool LacksIdleTime(const TraceAnalysis& trace);
// In how many traces work is missing: "GPU work is missing in 2 of 3 traces".
std::string MissingWorkText(const RunAnalysis& run);
// Whether launched work is missing from the trace, or may be.
bool LacksWork(const TraceAnalysis& trace);
// How much work has impossible times: "12 of 400 pieces of GPU work outside of graphs lie out of
// the order of their launches or on top of each other"; "" if none does.
std::string ImpossibleText(const ImpossibleWork& work);
// Why it is unknown when the devices were idle. Call it only if that is unknown.
std::string WhyNoIdleTime(const TraceAnalysis& trace);
// Why there is no device time, if the recording gives a reason; else "". For a run, the reason of
// the first rank that has one, and in how many traces it is the same.
std::string SaidWhyNoDeviceTime(const TraceAnalysis& trace);
std::string SaidWhyNoDeviceTime(const RunAnalysis& run);
// Like SaidWhyNoDeviceTime, but never empty: without a reason it says that there is no device work,
// or that none is recorded although calls launched some.
std::string WhyNoDeviceTime(const TraceAnalysis& trace);
std::string WhyNoDeviceTime(const RunAnalysis& run);

}  // namespace tacho
