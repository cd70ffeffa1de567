#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cli/load_run.h"
#include "cli/record_narrator.h"
#include "report/text_style.h"
#include "session/proof.h"
#include "session/record.h"

namespace tacho {

// A recording whose run folder is written, and what its traces prove.
struct ProvenRecording {
  Proof proof;
  std::optional<Loaded<RunAnalysis>> loaded;  // its traces, where any could be read
  int status = 0;                             // for the shell: 0, 4 or 130
};

// Writes all of the run folder, reads its traces and holds them against what was expected; run.json
// comes last. kOutput.
Result<ProvenRecording> ProveRecording(const Recording& recording, const RecordOptions& options,
                                       Narrator& narrator);

// The first screen of the traces, the proof, the cost of profiling, the folder.
std::string RecordScreen(const Recording& recording, const ProvenRecording& proven,
                         const TextStyle& style);

// Troubles and remarks, on standard error.
void ComplainOf(const Recording& recording, const ProvenRecording& proven);

}  // namespace tacho
