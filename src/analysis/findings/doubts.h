#pragma once

#include <vector>

#include "analysis/analyze.h"

namespace tacho {

// Why the figures of a trace may differ from those of the engine without a profiler.
enum class Doubt : uint8_t {
  kLostWork,
  kRecorderStopped,
  kTimesRefused,
  kClockOff,
  kImpossibleOrder,
  kEventsMissing,
  kRecordsDropped,
  kEarlierWork,
  kPythonStacks
};

bool HasDoubt(const TraceAnalysis& trace, Doubt doubt);

// Whether busy time is only a lower bound because events are missing, as tacho's own checks or the
// profiler say. Work that is missing only at the edges of the recording does not count, because it
// lies outside the window.
bool BusyIsLeast(const TraceAnalysis& trace);
bool BusyIsLeast(const RunAnalysis& run);
// Whether the share of busy time in all recorded time is only a lower bound. This is so if
// BusyIsLeast, or if work that was launched before the recording may have run in the recorded time.
bool BusyIsLeastOfRecorded(const TraceAnalysis* trace);

// Idle time with a smaller share of its whole is not mentioned.
inline constexpr double kIdleWorthNaming = 0.10;

// The recorded time of the traces, whether or not work ran in it, counted once for each device.
DurationNs RecordedTime(const std::vector<const TraceAnalysis*>& traces);

}  // namespace tacho
