#pragma once

#include <stop_token>
#include <vector>

#include "session/driver.h"
#include "session/load/record_load.h"
#include "session/recording.h"

namespace tacho {

// A window in which an engine stood still: its trace would hold no step, so it is taken once more.

// The workers from which no token came since the window began, although requests were sent to them.
std::vector<size_t> SilentInWindow(const Recording& recording, const std::vector<size_t>& running,
                                   const RecordLoad& load);

// Whether the window must be taken again: one of `silent` has no trouble, and its files, if seen
// from here, hold no step with a request. If so, reports it, removes the window's files, and gives
// each worker without trouble a new session with another key for its files.
bool ClearIfWithoutStep(DriverWindow& window, RecordObserver& observer,
                        const std::vector<size_t>& silent, const std::stop_token& stop,
                        Recording& recording);

}  // namespace tacho
