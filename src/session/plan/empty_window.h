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

// Decides whether to repeat the window, prepares that, and returns the decision. The window is
// repeated if one of the `silent` workers has no trouble and its engine names its steps, but its
// files, as far as they can be seen from here, hold no step with a request. To prepare this,
// reports the repetition, removes the window's files, and gives each worker without trouble a new
// session with another file key.
bool ClearIfWithoutStep(DriverWindow& window, RecordObserver& observer,
                        const std::vector<size_t>& silent, const std::stop_token& stop,
                        Recording& recording);

}  // namespace tacho
