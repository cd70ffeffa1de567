#pragma once

#include <stop_token>
#include <vector>

#include "session/driver.h"
#include "session/load/record_load.h"
#include "session/recording.h"

namespace tacho {

// Detects a window in which an engine stood still. Its trace would hold no step, so the window is
// repeated once.

// The workers that have sent no token since the window began, although they were sent requests.
std::vector<size_t> SilentInWindow(const Recording& recording, const std::vector<size_t>& running,
                                   const RecordLoad& load);

// Decides whether to repeat the window: yes if one of the `silent` workers has no trouble and names
// its steps, but its files, as far as they are seen from here, hold no step with a request. If yes:
// reports it, removes the window's files, and prepares for each worker without trouble a new
// session with another file key.
bool ClearIfWithoutStep(DriverWindow& window, RecordObserver& observer,
                        const std::vector<size_t>& silent, const std::stop_token& stop,
                        Recording& recording);

}  // namespace tacho
