#pragma once

#include <string>
#include <vector>

#include "control/daemon/kineto_daemon.h"
#include "session/daemon/daemon_round.h"
#include "session/recorded_worker.h"

namespace tacho {

// Brings the files of `round` to the folder of each worker, but what is still being written: it
// would lose its name. Notes in the workers' expectations what came and why something did not, and
// gives what was wrong.
std::vector<Finding> BringRound(const DaemonRound& round, const KinetoDaemon& daemon,
                                std::vector<RecordedWorker>& workers);

}  // namespace tacho
