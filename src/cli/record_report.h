#pragma once

#include <optional>
#include <string>

#include "cli/record_narrator.h"
#include "run/read_run.h"
#include "session/proof.h"
#include "session/record.h"
#include "text/text_style.h"

namespace tacho {

// A recording whose run folder is written, and what its traces prove.
struct ProvenRecording {
  Proof proof;
  std::optional<Readout<RunAnalysis>> readout;  // its traces, where any could be read
  std::string json;                             // what run.json says
  int status = 0;  // for the shell: 0, 4 or 130; 3 when run.json could not be written

  // Whether its traces show what was to be recorded: not where tacho ended it for one worker.
  bool HasFindings(const Recording& recording) const;
};

// Writes all of the run folder, reads its traces and holds them against what was expected; run.json
// comes last. What cannot be written is one of the recording's troubles, or said at once.
ProvenRecording ProveRecording(Recording& recording, const RecordOptions& options,
                               Narrator& narrator);

// The first screen of the traces, what is missing, and last what it comes to in ten lines
// (record_ending.h).
std::string RecordScreen(const Recording& recording, const ProvenRecording& proven,
                         const TextStyle& style);

// Says on standard error that it was interrupted, where it was, and what became of the profilers.
void ComplainOf(const Recording& recording);

}  // namespace tacho
