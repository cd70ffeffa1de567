#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/record/record_options.h"
#include "launch/launched_servers.h"

namespace tacho {

// `tacho record --launch ENGINE ... -- ARGUMENTS`: the engine is launched for one recording.

// Plans the launch and makes its keepers; nothing runs yet. Puts the profiler options of the preset
// into `own` (SGLang takes them with each start), unless `arguments`, the user's own for the
// recording, set them. kUsage also for wrong options of the recording itself, so that they are
// found before a start that takes a minute.
Result<LaunchedServers> MakeForRecording(RecordArguments& own,
                                         const std::vector<std::string>& arguments);

// Ends the engine. Moves its logs into RUN/server, and removes its folder unless the recording left
// something in it.
void EndAfterRecording(LaunchedServers& servers, const std::string& run_folder, bool complete);

}  // namespace tacho
