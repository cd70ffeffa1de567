#pragma once

#include <string>

#include "session/run_folder/kept_recording.h"

namespace tacho {

// The recording that the one in `folder` should be compared with. Candidates are recordings in the
// same parent folder that profiled the same engines and models under the same load and have a
// proven rank. Returns the candidate that ended last; "" if none of the 16 newest recordings is a
// candidate.
std::string EarlierRun(const std::string& folder, const KeptRecording& own);

}  // namespace tacho
