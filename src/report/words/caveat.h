#pragma once

#include <string>
#include <vector>

#include "analysis/analyze.h"

namespace tacho {

// Why the verdict may be wrong: events are missing, or the profiler slowed the host. "" if nothing
// speaks against it.
std::string Caveat(const TraceAnalysis& trace);
std::string Caveat(const RunAnalysis& run);
// Without what LossInWords says of the run.
std::string CaveatBesideLoss(const RunAnalysis& run);

// Whether busy time is a lower bound because events are missing, by tacho's own checks or by what
// the profiler says. Work missing only at the edges of the recording does not count: it lies
// outside the window.
bool BusyIsLeast(const TraceAnalysis& trace);
bool BusyIsLeast(const RunAnalysis& run);
// Whether the share of busy time in all recorded time is a lower bound: also if work that was
// launched before the recording may have run in it.
bool BusyIsLeastOfRecorded(const TraceAnalysis* trace);

// A smaller share of the window is not mentioned.
inline constexpr double kIdleWorthNaming = 0.10;

// The recorded time of the traces, with or without work, counted once for each device.
DurationNs RecordedTime(const std::vector<const TraceAnalysis*>& traces);

}  // namespace tacho
