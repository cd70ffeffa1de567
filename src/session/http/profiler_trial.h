#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "net/http_client.h"
#include "session/load/token_flow.h"
#include "session/recording.h"

namespace tacho {

// The outcome of a worker's trial.
struct TrialOutcome {
  std::optional<ProfileFigures> figures;  // absent: no step was seen, or no file could be read
  std::optional<int64_t> start_ns;        // how long its start took
  bool saw_no_step = false;               // it ran well but saw no step, so the trial shows nothing
  std::optional<Finding> failed;          // it died or did not start, so it cannot be recorded
  std::string met;                        // what else went wrong, if `figures` is absent
  // Set only for the first worker: files that the whole trial left in the engines' folders.
  std::vector<std::string> left_files = {};
};

// Whether a trial of the worker is safe and useful. It is not if the profiler can record only one
// session, if nobody here could read and remove its files (stays_in), if an idle engine records
// Python stacks (which fill any window with too much data), or if an idle engine's session would
// wait for the next step and so stay open.
bool MayTry(const RecordedWorker& worker, const RecordOptions& options);

// The second trial of an engine is smaller: comparing the two separates what each step adds to a
// flush from what every flush costs.
enum class TrialSize { kWhole, kQuarter };

// Runs a session of a few steps on all workers in `which` at the same time, just as the recording
// will. This shows what such a session writes and what its flush costs. It also gets each
// profiler's first start, which may take seconds, out of the way. Steps count once tokens flow from
// all workers. At the end removes the trial's files, also from the engine's folder and host, if
// their names show which worker wrote them. Returns the outcomes in the order of `which`.
std::vector<TrialOutcome> RunTrial(HttpClient& client, const RecordOptions& options,
                                   RecordObserver& observer, const Recording& recording,
                                   TokenFlow& flow, const std::vector<size_t>& which,
                                   TrialSize size, std::stop_token stop);

}  // namespace tacho
