#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "control/engine.h"
#include "net/http_client.h"

namespace tacho {

// The time that a living server has to answer.
inline constexpr std::chrono::milliseconds kPatienceForLife{3000};

// Why each engine is dead: its server refuses or breaks the connection, or vLLM's /health answers
// 503. "" if it lives or does not answer within `patience`. Asks all at the same time, by routes
// that run no model step. In the order of `workers`.
std::vector<std::string> WhyDead(HttpClient& client, const std::vector<Worker>& workers,
                                 const std::vector<EngineFacts>& facts,
                                 std::chrono::milliseconds patience);

// Why a server takes no requests yet.
struct NotReady {
  std::string text;  // "" if it is ready
  int status = 0;    // HTTP status of its answer; 0 without one
};
// Judges the answer of `route`: a 200 means ready, and so does a 404 if the server `may_lack` the
// route.
NotReady Objection(const Result<int>& status, std::string_view route, bool may_lack);
// For an engine. Asks vLLM's /health and SGLang's /ready (or /model_info, formerly /get_model_info,
// in older versions, which have no /ready), never SGLang's /health.
NotReady WhyNotReady(HttpClient& client, const std::string& url, EngineKind kind,
                     std::chrono::milliseconds patience, const std::stop_token& stop);
// The same for a router, by /readiness. A router without that route counts as ready.
NotReady WhyRouterNotReady(HttpClient& client, const std::string& url,
                           std::chrono::milliseconds patience, const std::stop_token& stop);

}  // namespace tacho
