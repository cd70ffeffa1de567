#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "session/proof/proof.h"
#include "session/recording.h"

namespace tacho {

// Writes everything except traces/ and run.json into the run folder. Returns one finding for each
// file that could not be written.
std::vector<Finding> WriteRecording(const Recording& recording, const RecordOptions& options);
// The text of run.json, which must be written last. `analysis`: a JSON object of what the traces
// show, whose fields are added; "" for none.
std::string RunJsonText(const Recording& recording, const RecordOptions& options,
                        const Proof& proof, std::string_view tacho_version, int exit_status,
                        const std::string& analysis);

}  // namespace tacho
