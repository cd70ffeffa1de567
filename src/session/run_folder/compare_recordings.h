#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/compare/run_changes.h"
#include "session/run_folder/kept_recording.h"

namespace tacho {

// What a run folder holds about its recording, apart from the traces.
struct KeptRun {
  KeptRecording recording;
  std::optional<KeptLoad> load = {};
};
// The recording at `path`, which is its run folder or the folder traces/ in it.
std::optional<KeptRun> KeptRunOf(const std::string& path);
std::vector<std::optional<KeptRun>> KeptRunsOf(const std::vector<std::string>& paths);

// Adds to a comparison what the run folders say about the recordings: figures of the load (means
// over the runs of each side; with several runs, bounds by Student's t), the cost of profiling as a
// remark, and different models or loads as obstacles. There are figures only if all runs were
// recorded under the same load. They describe the unprofiled windows if all runs have one, else the
// profiled windows.
void CompareRecordings(const std::vector<std::optional<KeptRun>>& base,
                       const std::vector<std::optional<KeptRun>>& now, RunChanges& changes);

}  // namespace tacho
