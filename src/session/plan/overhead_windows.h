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
// sessions begin and end on request, by HTTP, many times.
std::string WhyNoOverhead(const std::vector<RecordedWorker>& workers);

// Runs the windows of `--overhead` under the load, and first says how long they take. Each profiled
// window is a session of its own; the files of that session are removed. Its start, its flush and
// the time until tokens flow again are in no window. Ends early, with what there is, if `stop` is
// requested, a profiler fails or the load ends. `rates`: steps a second of each worker, unprofiled.
void RunOverheadWindows(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
                        Recording& recording, RecordLoad& load, TokenFlow& flow,
                        const std::vector<std::optional<double>>& rates,
                        const std::stop_token& stop);

}  // namespace tacho
