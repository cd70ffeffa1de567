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
  std::optional<ProfileFigures> figures;  // absent: no step came, or no file could be read
  std::optional<int64_t> start_ns;        // how long its start took
  bool saw_no_step = false;               // it ran well, but without a step: it shows nothing
  std::optional<Finding> failed;          // it died or did not start, so it cannot be recorded
  std::string met;                        // what else went wrong, if there are no figures
  // Set for the first worker alone: what the whole trial left in the engines' folders.
  std::vector<std::string> left_files = {};
};

// Whether a trial of the worker is safe and useful. It is not if the profiler records one session
// only, if the engine is idle and has Python stacks, which write too much in any time, or if it is
// idle and its session waits for the next step, and so would stay open.
bool MayTry(const RecordedWorker& worker, const RecordOptions& options);

// The second trial of an engine is smaller: the two show what a flush costs apart from its steps.
enum class TrialSize { kWhole, kQuarter };

// Runs a session of a few steps on all of the workers `which` at the same time, as the recording
// will. It shows what such a session writes and what its flush costs, and it takes the first start
// of each profiler, which may take seconds, out of the recording. The steps count from when tokens
// flow at all workers. Then removes the trial's files, also from the engine's folder and host, if
// their names show which worker wrote them. Outcomes in the order of `which`.
std::vector<TrialOutcome> RunTrial(HttpClient& client, const RecordOptions& options,
                                   RecordObserver& observer, const Recording& recording,
                                   TokenFlow& flow, const std::vector<size_t>& which,
                                   TrialSize size, std::stop_token stop);

}  // namespace tacho
