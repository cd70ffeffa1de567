#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/names/classifier.h"
#include "model/event.h"
#include "model/notes.h"
#include "model/trace.h"

namespace tacho {

// What decides whether a trace should have GPU events. It describes the whole trace, however that
// was read.
struct RecordedWork {
  uint64_t gpu_events = 0, host_ops = 0, host_calls = 0;
  bool gpu_in_header = false;
  bool no_engine_step = false;  // an engine's worker that shows no sign of a step
  // Set only for a summary, whose rows are gone by then:
  bool captures = false;           // signs of a graph capture, and neither a step nor GPU work
  bool several_processes = false;  // several processes called the runtime, and none names its rank

  bool no_rank = false;  // the file is not that of a rank: it never has GPU events
};

// Whether the header names a GPU: it lists one, or the job's collectives use a library that needs
// one ("nccl", "cpu:gloo,cuda:nccl").
bool TellsOfGpu(const TraceHeader& header);
RecordedWork WorkOf(const Trace& trace);

// Whether nothing hints at an accelerator although operators were recorded. Such a trace is of an
// engine on the CPU if any of its operators does work (device_work.h).
bool MayBeHostEngine(const RecordedWork& work, const TraceBasics& trace);

// Whether a name is a sign of a model's step: an operator that computes, a call that launches work.
// An idle engine passes requests on (communication, copies) and waits.
bool IsOfAStep(std::string_view operator_name, const Classifier& classifier);
bool LaunchesWork(std::string_view call);

// Notes what `trace` lacks: any event at all, or the steps or the GPU events that it should have.
// Also notes device work that is there but not read.
void NoteMissingWork(const RecordedWork& work, const TraceBasics& trace, bool on_host,
                     Notes& notes);

}  // namespace tacho
