#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "session/proof/proof.h"
#include "session/recording.h"

namespace tacho {

// Writes everything but traces/ and run.json into the run folder. Returns what could not be
// written.
std::vector<Finding> WriteRecording(const Recording& recording, const RecordOptions& options);
// The text of run.json, which is written last of all. `analysis`: what the traces show, a JSON
// object whose fields are added; "" without any.
std::string RunJsonText(const Recording& recording, const RecordOptions& options,
                        const Proof& proof, std::string_view tacho_version, int exit_status,
                        const std::string& analysis);

}  // namespace tacho
