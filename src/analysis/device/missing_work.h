#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/names/classifier.h"
#include "model/event.h"
#include "model/notes.h"
#include "model/trace.h"

namespace tacho {

// What decides whether a trace should have GPU events: of the whole trace, however it was read.
struct RecordedWork {
  uint64_t gpu_events = 0, host_ops = 0, host_calls = 0;
  bool gpu_in_header = false;
  bool no_engine_step = false;  // of an engine's worker that shows no sign of a step
  // Of a summary, which has no rows to look at once more:
  bool captures = false;           // signs of a graph capture, and neither a step nor GPU work
  bool several_processes = false;  // called the runtime, none of which names its rank

  bool no_rank = false;  // the file is of no rank: it has no GPU events by nature
};

// Whether the header names a GPU: it lists one, or the job's collectives are those of a library
// that needs one ("nccl", "cpu:gloo,cuda:nccl").
bool TellsOfGpu(const TraceHeader& header);
RecordedWork WorkOf(const Trace& trace);

// Whether nothing hints at an accelerator although operators were recorded. Such a trace is of an
// engine on the CPU if any of its operators does work (device_work.h).
bool MayBeHostEngine(const RecordedWork& work, const TraceBasics& trace);

// Whether these are of a model's step: an operator that computes, a call that launches work. An
// idle engine passes requests on (communication, copies) and waits.
bool IsOfAStep(std::string_view operator_name, const Classifier& classifier);
bool LaunchesWork(std::string_view call);

// Adds what `trace` lacks to its notes: any event, the steps or the GPU events that it should have,
// and device work that is there and not read.
void NoteMissingWork(const RecordedWork& work, const TraceBasics& trace, bool on_host,
                     Notes& notes);

}  // namespace tacho
