#pragma once

#include "session/kept_recording.h"
#include "text/document.h"

namespace tacho {

// The load of a recording, the cost of profiling and what is missing, for its report.
Document RecordingDocument(const KeptRecording& recording);

}  // namespace tacho
