#pragma once

#include "session/run_folder/kept_recording.h"
#include "text/document.h"

namespace tacho {

// What profiling cost, from the two windows of the recording: "2330 tok/s unprofiled, 2415
// profiled: ..."; "" if the cost is not known.
std::string CostText(const KeptRecording& recording);

// The load's figures in the unprofiled and in the profiled window, also by scenario.
Table LoadWindows(const KeptRecording& recording);

// The load of a recording, the cost of profiling and what is missing, for its report.
Document RecordingDocument(const KeptRecording& recording);

}  // namespace tacho
