#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "control/engine.h"
#include "net/http_client.h"

namespace tacho {

// For which a server that lives is given time to say so.
inline constexpr std::chrono::milliseconds kPatienceForLife{3000};

// Why each engine is dead, "" where it lives or cannot be asked within `patience`: its server takes
// no connection or breaks it, or vLLM's /health says 503. All are asked at the same time, by routes
// that run no model step. In the order of `workers`.
std::vector<std::string> WhyDead(HttpClient& client, const std::vector<Worker>& workers,
                                 const std::vector<EngineFacts>& facts,
                                 std::chrono::milliseconds patience);

}  // namespace tacho
