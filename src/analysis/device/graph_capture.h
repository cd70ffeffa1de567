#pragma once

#include <string_view>

#include "model/trace.h"

namespace tacho {

// Recordings of how an engine captures its CUDA graphs when it starts: vLLM's
// capture_torch_profiler and SGLang's --enable-profile-cuda-graph write them, beside the traces of
// serving. A graph that is captured does not run, so that they have no device work of the engine's,
// and no step. Their files have names of their own (base/capture_file.h).

// Whether an annotation is one of a capture: "_capture_graph", "_dummy_run", "capture_8_tokens".
bool IsCaptureAnnotation(std::string_view name);
// Whether a call begins to record a graph: cudaStreamBeginCapture.
bool BeginsCapture(std::string_view call);
// Whether an annotation is a step of an engine, which rules a capture out.
bool IsEngineStep(std::string_view name);

// Whether a trace is such a recording: no step of an engine, no graph that is launched, and an
// annotation of a capture, the name of such a file, or a capture of a stream without GPU work.
bool RecordsCapture(const Trace& trace, std::string_view path);

}  // namespace tacho
