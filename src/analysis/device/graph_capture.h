#pragma once

#include <string_view>

#include "model/trace.h"

namespace tacho {

// vLLM (capture_torch_profiler) and SGLang (--enable-profile-cuda-graph) can record how they
// capture their CUDA graphs when they start. These recordings lie beside the traces of serving.
// They hold no device work of the engine and no engine step, because a graph does not run while it
// is captured. Their files have names of their own (base/capture_file.h).

// Whether a capture writes annotations of this name: "_capture_graph", "_dummy_run",
// "capture_8_tokens".
bool IsCaptureAnnotation(std::string_view name);
// Whether a call of this name starts to capture a graph: cudaStreamBeginCapture.
bool BeginsCapture(std::string_view call);
// Whether an annotation of this name marks an engine step. A recording with such steps is not a
// capture.
bool IsEngineStep(std::string_view name);

// Whether a trace records a capture. It must have no engine step and no graph launch, and at least
// one of these signs: its file has a name of such recordings; a call begins a capture, and there is
// no GPU work; it has an annotation of a capture, and either such a call or no GPU work.
bool RecordsCapture(const Trace& trace, std::string_view path);

}  // namespace tacho
