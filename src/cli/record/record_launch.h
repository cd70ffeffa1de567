#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/record/record_options.h"
#include "launch/launched_servers.h"

namespace tacho {

// `tacho record --launch ENGINE ... -- ARGUMENTS`: the engine is launched for one recording.

// Plans it and makes its keepers, before any thread starts; nothing runs yet. Options of the
// profiler that the preset stands for are put into `own` (SGLang takes them with each start), but
// `arguments`, what the user gave to the recording, win.
// kUsage also for what is wrong with the recording's own options: before a start that takes a
// minute.
Result<LaunchedServers> MakeForRecording(RecordArguments& own,
                                         const std::vector<std::string>& arguments);

// Ends the engine. Its logs go into RUN/server; its folder is removed unless the recording left
// something there.
void EndAfterRecording(LaunchedServers& servers, const std::string& run_folder, bool complete);

}  // namespace tacho
