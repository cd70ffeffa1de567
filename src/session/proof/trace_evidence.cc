#include "session/proof/trace_evidence.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/notes.h"

namespace tacho {
namespace {

TimeNs EndOfWork(const TraceAnalysis& trace) {
  TimeNs end = trace.span.start;
  for (const Step& step : trace.steps.steps) end = std::max(end, step.when.end);
  for (const DeviceTime& device : trace.devices) end = std::max(end, device.window.end);
  return end;
}

// Whether a note about lost data means that the file itself is not whole. It does not if the
// profiler lost the data: such a file may be whole.
bool IsOfTheFile(NoteId id) {
  switch (id) {
    case NoteId::kLostGpuWork:
    case NoteId::kLostAtEdge:
    case NoteId::kCutOffWork:
    case NoteId::kRecorderStopped:
    case NoteId::kTimesRefused:
    case NoteId::kProducerLostEvents:
      return false;
    default:
      return true;
  }
}

}  // namespace

TraceEvidence EvidenceOf(const TraceAnalysis& trace) {
  TraceEvidence evidence;
  evidence.path = trace.path;
  evidence.rank = trace.facts.rank;
  evidence.world_size = trace.facts.world_size;
  evidence.identity = trace.facts.identity;
  evidence.pids = trace.facts.pids;
  evidence.process_names = trace.facts.process_names;
  if (trace.header.base_time_ns >= 0 && !trace.span.empty()) {
    evidence.first_unix_ns = trace.header.base_time_ns + trace.span.start.ns;
    evidence.last_unix_ns = trace.header.base_time_ns + trace.span.end.ns;
    if (!trace.steps.steps.empty())
      evidence.last_step_unix_ns = trace.header.base_time_ns + EndOfWork(trace).ns;
  }
  evidence.idle = trace.span.empty();
  evidence.events = trace.counts.total;
  evidence.gpu_events = trace.launches.gpu_events + trace.launches.without_correlation;
  evidence.has_gpu = !trace.header.devices.empty();
  evidence.stage = trace.facts.stage;
  evidence.front_end = !IsRank(trace.facts.role);
  evidence.merged = trace.facts.role == TraceRole::kMerged;
  if (!trace.steps.method.empty() || !trace.facts.engine.empty()) {
    uint64_t steps = 0;
    for (const Step& step : trace.steps.steps)
      ++(step.label.phase == Phase::kEmpty ? evidence.empty_steps : steps);
    evidence.steps = steps;
  }
  for (const Note& note : trace.notes.list()) {
    if (KindOf(note.id).severity != Severity::kDataLoss) continue;
    if (!IsOfTheFile(note.id) && evidence.loss.empty())
      evidence.loss = fmt::format("{}: {}", KindOf(note.id).id, KindOf(note.id).text);
    if (IsOfTheFile(note.id) && !evidence.defect) evidence.defect = note;
  }
  return evidence;
}

}  // namespace tacho
