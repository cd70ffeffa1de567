#pragma once

#include <optional>
#include <stop_token>
#include <vector>

#include "net/http_client.h"
#include "session/load/record_load.h"
#include "session/load/token_flow.h"
#include "session/recording.h"

namespace tacho {

// Why `--overhead` cannot be measured on these workers; "" if it can. It needs engines whose
// profiling sessions can be started and stopped by HTTP, many times.
std::string WhyNoOverhead(const std::vector<RecordedWorker>& workers);

// Runs the windows of `--overhead` under the load, and first reports how long they will take. Each
// profiled window is its own session, whose files are removed. A session's start, its flush and the
// time until tokens flow again lie outside all windows. Stops early if `stop` is requested, a
// profiler fails or the load ends; the windows taken so far are kept. `rates`: each worker's steps
// per second, unprofiled.
void RunOverheadWindows(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
                        Recording& recording, RecordLoad& load, TokenFlow& flow,
                        const std::vector<std::optional<double>>& rates,
                        const std::stop_token& stop);

}  // namespace tacho
