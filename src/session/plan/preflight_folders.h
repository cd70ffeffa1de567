#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/recorded_worker.h"
#include "session/recording_options.h"

namespace tacho {

// The folder in which the worker's files will appear as seen from here. "" if they will be fetched
// from another host, or stay there; then `worker.remote` or `worker.stays_in` is set. For an SGLang
// on this host without a configured folder, sets `profile` to write into `folder_in_run`. Fails
// with a finding if the options do not say where the files will be, or contradict the engine.
Checked<std::string> FolderOf(RecordedWorker& worker, const RecordOptions& options,
                              const std::string& folder_in_run, ProfileOptions& profile,
                              std::stop_token stop);
// Adds a finding if there is little room for traces in this folder; one finding for each folder.
void LookAtRoom(const std::string& folder, std::vector<Finding>& findings);

}  // namespace tacho
