#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "control/discover.h"
#include "net/http_client.h"

namespace tacho {

// Whether streams through such a router tell the tokens of a chunk only when `return_token_ids` is
// asked for: the router drops `continuous_usage_stats`, and the engine behind it knows the other
// (rules/engines.rules). False without a router.
bool NeedsTokenIds(RouterKind router, EngineKind engine, std::string_view engine_version);

// The same of what answers at a URL: it is asked for its workers, and a vLLM behind it for its
// version. False also for what tells neither.
bool AskWhetherTokenIds(HttpClient& client, const std::string& url,
                        std::chrono::milliseconds patience, std::stop_token stop = {});

}  // namespace tacho
