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

// What a worker's trial came to.
struct TrialOutcome {
  std::optional<ProfileFigures> figures;  // none: no step came, or no file could be read
  std::optional<int64_t> start_ns;        // how long its start took
  bool saw_no_step = false;               // although it ran well: that was no trial
  std::optional<Finding> failed;          // it died or did not start, so it cannot be recorded
  std::string met;                        // what else went wrong, if there are no figures
  // Of the first worker: what the whole trial left in the engines' folders.
  std::vector<std::string> left_files = {};
};

// Whether a trial of the worker is safe and useful: a profiler that records one session only is not
// spent on it, an idle engine with Python stacks writes too much in any time, and one whose session
// waits for its next step would keep it.
bool MayTry(const RecordedWorker& worker, const RecordOptions& options);

// The second trial of an engine is smaller: both together show what a flush costs without a step.
enum class TrialSize { kWhole, kQuarter };

// A session of a few steps of each of the workers `which`, all at the same time, as the recording
// will be: what it writes and what its flush costs. A profiler's first start may take seconds, in
// which others would record; after the trial that is over. Its steps count from when tokens flow at
// all workers. Its files are removed again, from the
// engine's folder and its host too, if their names show whose they are. Outcomes in the order of
// `which`.
std::vector<TrialOutcome> RunTrial(HttpClient& client, const RecordOptions& options,
                                   RecordObserver& observer, const Recording& recording,
                                   TokenFlow& flow, const std::vector<size_t>& which,
                                   TrialSize size, std::stop_token stop);

}  // namespace tacho
