#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/recorded_worker.h"
#include "session/recording_options.h"

namespace tacho {

// Where the worker's files will appear as seen from here; "" if they will be fetched (its `remote`
// is set then). For an SGLang of this host that nobody gave a folder, sets `folder_in_run` in
// `profile`. Fails with a finding if the options name no such place, or contradict the engine.
Checked<std::string> FolderOf(RecordedWorker& worker, const RecordOptions& options,
                              const std::string& folder_in_run, ProfileOptions& profile,
                              std::stop_token stop);
// Adds a finding, once for each folder, if little room is left for traces.
void LookAtRoom(const std::string& folder, std::vector<Finding>& findings);

}  // namespace tacho
