#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/record/record_narrator.h"
#include "run/read_run.h"
#include "session/proof/proof.h"
#include "session/recording.h"
#include "text/text_style.h"

namespace tacho {

// The written run folder of a recording, and what its traces prove.
struct ProvenRecording {
  Proof proof;
  std::optional<Readout<RunAnalysis>> readout;  // absent: no trace could be read
  std::string json;                             // the content of run.json
  // The folder of an earlier run to compare with; "": none.
  std::string earlier;
  bool has_report = false;  // report.html is in the folder
  int status = 0;           // exit status: 0, 4 or 130; 3 if run.json could not be written

  // Whether there is a trace to analyse. False also if tacho gave up the recording because of one
  // worker.
  bool HasAnalysis(const Recording& recording) const;
};

// Writes the run folder, reads its traces and compares them with what was expected; run.json comes
// last. A file that cannot be written is one of the recording's findings, or is reported at once.
ProvenRecording ProveRecording(Recording& recording, const RecordOptions& options,
                               Narrator& narrator);

// The first screen of the traces, the cost of profiling, what is missing, and the ending
// (record_ending.h). `shown`: the screens that were printed earlier, when fewer ranks were
// finished. What they show is not repeated; if any were printed, the table of ranks replaces the
// first screen.
std::string RecordScreen(const Recording& recording, const ProvenRecording& proven,
                         const TextStyle& style, std::string_view shown = {});

// Says on standard error that the recording was interrupted, in which phase, and whether profilers
// still run.
void ComplainOf(const Recording& recording);

}  // namespace tacho
