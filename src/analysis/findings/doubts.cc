#include "analysis/findings/doubts.h"

#include <algorithm>

#include "base/share.h"

namespace tacho {
namespace {

// Whether enough of the window is idle time that the host causes, which Python stacks make longer.
bool MuchIsTheHosts(const IdleTable& idle) {
  DurationNs hosts;
  for (const IdleCauseRow& row : idle.causes) {
    if (IsTheHosts(row.cause)) hosts += row.total;
  }
  return ShareOf(hosts, idle.window) >= kIdleWorthNaming;
}

// Whether a note reports lost data that no other doubt covers.
bool LostOtherData(const Notes& notes) {
  return std::ranges::any_of(notes.list(), [](const Note& note) {
    return KindOf(note.id).severity == Severity::kDataLoss && note.id != NoteId::kLostAtEdge &&
           note.id != NoteId::kCutOffWork && note.id != NoteId::kLostGpuWork &&
           note.id != NoteId::kRecorderStopped && note.id != NoteId::kTimesRefused &&
           note.id != NoteId::kProducerLostEvents;
  });
}

// Whether work launched before the recording may have run inside the window, and not only before
// it.
bool MayBeBusyInside(const TraceAnalysis& trace) {
  return HasDoubt(trace, Doubt::kEarlierWork) &&
         trace.idle.may_be_busy > RecordedTime({&trace}) - trace.idle.window;
}

}  // namespace

bool HasDoubt(const TraceAnalysis& trace, Doubt doubt) {
  switch (doubt) {
    case Doubt::kLostWork:  // if idle time is unknown, the verdict says so itself
      return trace.integrity.lost.any() && trace.idle.known;
    case Doubt::kRecorderStopped:  // as for kLostWork
      return trace.integrity.stops.any() && !trace.notes.ends_early() &&
             (trace.idle.known || trace.integrity.lost.any());
    case Doubt::kTimesRefused:
      return !trace.integrity.device_times();
    case Doubt::kClockOff:
      return trace.integrity.device_times() && !trace.integrity.common_clock();
    case Doubt::kImpossibleOrder:
      return trace.integrity.device_times() && trace.integrity.impossible.count() > 0;
    case Doubt::kEventsMissing:
      return LostOtherData(trace.notes) ||
             (!trace.devices.empty() && trace.notes.CountOf(NoteId::kDeviceRowsNotRead) > 0);
    case Doubt::kRecordsDropped:
      return trace.notes.CountOf(NoteId::kProducerLostEvents) > 0;
    case Doubt::kEarlierWork:
      return ShareOf(trace.idle.may_be_busy,
                     trace.scope.window ? trace.idle.window : RecordedTime({&trace})) >=
             kIdleWorthNaming;
    case Doubt::kPythonStacks:
      return trace.facts.python_stacks && MuchIsTheHosts(trace.idle);
  }
  return false;
}

DurationNs RecordedTime(const std::vector<const TraceAnalysis*>& traces) {
  DurationNs recorded;
  for (const TraceAnalysis* trace : traces) {
    for (const DeviceTime& device : trace->devices) {
      if (!device.window.empty()) recorded += trace->recorded().length();
    }
  }
  return recorded;
}

bool BusyIsLeast(const TraceAnalysis& trace) {
  const LostWork& lost = trace.integrity.lost;
  if (trace.devices.empty()) return false;  // the trace adds to no sum
  return !trace.idle.known || (lost.any() && !lost.at_edges()) ||
         HasDoubt(trace, Doubt::kEventsMissing) || HasDoubt(trace, Doubt::kRecordsDropped) ||
         MayBeBusyInside(trace);
}

bool BusyIsLeastOfRecorded(const TraceAnalysis* trace) {
  return BusyIsLeast(*trace) || HasDoubt(*trace, Doubt::kEarlierWork);
}

bool BusyIsLeast(const RunAnalysis& run) {
  return std::ranges::any_of(RanksOf(run),
                             [](const TraceAnalysis* trace) { return BusyIsLeast(*trace); });
}

}  // namespace tacho
