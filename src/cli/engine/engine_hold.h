#pragma once

#include <chrono>

#include "base/result.h"
#include "cli/engine/engine_options.h"
#include "net/http_client.h"

namespace tacho {

// `tacho engine hold TARGET... [-- COMMAND...]`: waits until router and engines are ready, keeps
// them ready for recordings, and releases them on Ctrl-C, after --for, or when the command has
// ended. Returns the exit status; with a COMMAND, the command's own. The command gets TACHO_ROUTER
// (if there is a router), TACHO_WORKERS (URLs, separated by blanks) and TACHO_HOLD in its
// environment. `patience`: how long to wait for each answer; 0: without limit.
Result<int> HoldEngines(HttpClient& client, const EngineOptions& options,
                        std::chrono::milliseconds patience);

}  // namespace tacho
