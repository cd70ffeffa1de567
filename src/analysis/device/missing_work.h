#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/names/classifier.h"
#include "model/event.h"
#include "model/notes.h"
#include "model/trace.h"

namespace tacho {

// What decides whether a trace should have GPU events. It always describes the whole trace, whether
// the file was read whole or only in part.
struct RecordedWork {
  uint64_t gpu_events = 0, host_ops = 0, host_calls = 0;
  bool gpu_in_header = false;
  bool no_engine_step = false;  // a worker of an engine whose trace shows no sign of a step
  // Known only when the trace was reduced to a summary, which no longer has the rows:
  bool captures = false;  // the trace has signs of a graph capture, no step and no GPU work
  // Several processes called the runtime, and none of them names its rank.
  bool several_processes = false;

  bool no_rank = false;  // the trace is not of a rank, so it never has GPU events
};

// Whether the header shows that a GPU was used: it lists one, or names a library for collectives
// that needs one ("nccl", "cpu:gloo,cuda:nccl").
bool TellsOfGpu(const TraceHeader& header);
RecordedWork WorkOf(const Trace& trace);

// Whether operators were recorded but nothing hints at an accelerator. Such a trace is of a CPU
// engine if any of its operators does work (device_work.h).
bool MayBeHostEngine(const RecordedWork& work, const TraceBasics& trace);

// IsOfAStep: whether an operator of this name computes. LaunchesWork: whether a call of this name
// launches work. Both are signs that a model step ran, because an idle engine only passes requests
// on (communication, copies) and waits.
bool IsOfAStep(std::string_view operator_name, const Classifier& classifier);
bool LaunchesWork(std::string_view call);

// Adds a note if `trace` has no events at all, or lacks steps or GPU events that it should have.
// Also adds a note if the file has device work that tacho does not read.
void NoteMissingWork(const RecordedWork& work, const TraceBasics& trace, bool on_host,
                     Notes& notes);

}  // namespace tacho
