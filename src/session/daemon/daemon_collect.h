#pragma once

#include <string>
#include <vector>

#include "control/daemon/kineto_daemon.h"
#include "session/daemon/daemon_round.h"
#include "session/recorded_worker.h"

namespace tacho {

// Brings the trace files of `round` to the folder of each worker, except files that are still being
// written: their processes will rename them at the end. Notes in the workers' expectations which
// files came, and why others did not. Returns what went wrong.
std::vector<Finding> BringRound(const DaemonRound& round, const KinetoDaemon& daemon,
                                std::vector<RecordedWorker>& workers);

}  // namespace tacho
