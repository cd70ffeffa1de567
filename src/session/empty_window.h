#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "session/profiler_session.h"
#include "session/record.h"
#include "session/record_load.h"

namespace tacho {

// A window in which an engine stood still: its trace would hold no step, so it is taken once more.

// The workers from which no token came since the window began, although requests were sent to them.
std::vector<size_t> SilentInWindow(const Recording& recording, const std::vector<size_t>& running,
                                   const RecordLoad& load);

// Of `silent`, after the stop: those that are well and whose files, if they are seen from here,
// hold no step with a request.
std::vector<size_t> WithoutStep(ProfilerSession& session, const Recording& recording,
                                const std::vector<size_t>& silent, const std::stop_token& stop);

// Removes the files of the window that is over, and gives each worker that is well a new session:
// its files have another key. Gives the files that stay.
std::vector<std::string> RenewSessions(ProfilerSession& session, const RecordOptions& options,
                                       Recording& recording);

}  // namespace tacho
