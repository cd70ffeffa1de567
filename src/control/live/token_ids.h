#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "control/live/discover.h"
#include "net/http_client.h"

namespace tacho {

// Whether streams through this router report a chunk's number of tokens only with
// `return_token_ids`: the router drops `continuous_usage_stats`, and its engine supports
// `return_token_ids` (rules/engine_versions.rules). False without a router.
bool NeedsTokenIds(RouterKind router, EngineKind engine, std::string_view engine_version);

// NeedsTokenIds for the server at a URL: asks it for its workers, and one vLLM among them for its
// version. False if the server does not report them.
bool AskWhetherTokenIds(HttpClient& client, const std::string& url,
                        std::chrono::milliseconds patience, std::stop_token stop = {});

}  // namespace tacho
