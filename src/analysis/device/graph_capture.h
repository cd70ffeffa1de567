#pragma once

#include <string_view>

#include "model/trace.h"

namespace tacho {

// Recordings of how an engine captures its CUDA graphs when it starts: vLLM's
// capture_torch_profiler and SGLang's --enable-profile-cuda-graph write them, beside the traces of
// serving. A graph does not run while it is captured, so these recordings have no device work of
// the engine and no step. Their files have names of their own (base/capture_file.h).

// Whether an annotation is one of a capture: "_capture_graph", "_dummy_run", "capture_8_tokens".
bool IsCaptureAnnotation(std::string_view name);
// Whether a call begins to record a graph: cudaStreamBeginCapture.
bool BeginsCapture(std::string_view call);
// Whether an annotation is a step of an engine, which rules a capture out.
bool IsEngineStep(std::string_view name);

// Whether a trace is such a recording: it has no step of an engine and no graph launch, and it
// shows one of three signs. The signs are the file name of a capture; a stream capture and no GPU
// work; or an annotation of a capture, with a stream capture or without GPU work.
bool RecordsCapture(const Trace& trace, std::string_view path);

}  // namespace tacho
