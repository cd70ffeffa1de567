#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/record/record_options.h"
#include "launch/launched_servers.h"

namespace tacho {

// `tacho record --launch ENGINE ... -- ARGUMENTS`: the engine is launched for one recording.

// Plans the launch and makes its keepers (the processes that hold the servers); no server runs yet.
// Puts the preset's profiler options into `own` (SGLang takes them with each request to start),
// except those that the user's own `arguments` set. Also checks the options of the recording
// (kUsage) already here, because starting the engine takes a minute.
Result<LaunchedServers> MakeForRecording(RecordArguments& own,
                                         const std::vector<std::string>& arguments);

// Ends the engine. Moves its logs into RUN/server, and removes its folder unless the recording left
// something in it.
void EndAfterRecording(LaunchedServers& servers, const std::string& run_folder, bool complete);

}  // namespace tacho
