#pragma once

#include <string>
#include <vector>

#include "analysis/analyze.h"

namespace tacho {

// Why the verdict may be other than the truth: events are missing, or the profiler slowed the host.
// "" where nothing speaks against it.
std::string Caveat(const TraceAnalysis& trace);
std::string Caveat(const RunAnalysis& run);

// Whether busy time is a lower bound: events are missing, known or as the profiler says. Work that
// is missing at the edges of the recording alone lies outside the window.
bool BusyIsLeast(const TraceAnalysis& trace);
bool BusyIsLeast(const RunAnalysis& run);
// The same of its share of all the time recorded: work that was launched before the recording may
// have run then.
bool BusyIsLeastOfRecorded(const TraceAnalysis* trace);

// A smaller share of the window is not worth a word.
inline constexpr double kIdleWorthNaming = 0.10;

// How long the traces are, work or not, once for each device.
DurationNs RecordedTime(const std::vector<const TraceAnalysis*>& traces);

}  // namespace tacho
