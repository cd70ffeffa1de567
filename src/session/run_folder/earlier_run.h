#pragma once

#include <string>

#include "session/run_folder/kept_recording.h"

namespace tacho {

// The recording to compare with the one in `folder`. Candidates are the recordings beside it that
// profiled the same engines and models under the same load and have a proven rank. Returns the
// candidate that ended last; "" if the 16 folders with the newest run.json hold no candidate.
std::string EarlierRun(const std::string& folder, const KeptRecording& own);

}  // namespace tacho
