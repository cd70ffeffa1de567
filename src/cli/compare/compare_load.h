#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/compare/run_changes.h"
#include "session/run_folder/kept_recording.h"

namespace tacho {

// What the run folder of a recording says of it, beside its traces.
struct KeptRun {
  KeptRecording recording;
  std::optional<KeptLoad> load = {};
};
// Of the recording that PATH is, or whose traces/ it is.
std::optional<KeptRun> KeptRunOf(const std::string& path);
std::vector<std::optional<KeptRun>> KeptRunsOf(const std::vector<std::string>& paths);

// Adds to a comparison what the recordings of its runs say: figures of the load (means over the
// runs of a side; bounds by Student's t with several), the cost of profiling as a remark, and other
// models and loads as obstacles. There are figures only where all runs are recordings under the
// same load: of the unprofiled windows where all have one, else of the profiled ones.
void CompareRecordings(const std::vector<std::optional<KeptRun>>& base,
                       const std::vector<std::optional<KeptRun>>& now, RunChanges& changes);

}  // namespace tacho
