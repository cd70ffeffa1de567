#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "control/engine.h"
#include "net/http_client.h"

namespace tacho {

// A living server answers within this time.
inline constexpr std::chrono::milliseconds kPatienceForLife{3000};

// Why each engine is dead: its server refuses or breaks the connection, or vLLM's /health answers
// 503. "" if the engine lives, or does not answer within `patience`. Asks all engines at the same
// time, by routes that do not run the model. In the order of `workers`.
std::vector<std::string> WhyDead(HttpClient& client, const std::vector<Worker>& workers,
                                 const std::vector<EngineFacts>& facts,
                                 std::chrono::milliseconds patience);

// Why a server does not take requests yet.
struct NotReady {
  std::string text;  // "" if it is ready
  int status = 0;    // HTTP status of its answer; 0 if it did not answer
};
// Judges the answer of `route`: 200 means ready. So does 404 if `may_lack` says that the server may
// be without the route.
NotReady Objection(const Result<int>& status, std::string_view route, bool may_lack);
// Why an engine is not ready. Asks vLLM's /health and SGLang's /ready (in older versions, which
// lack /ready: /model_info or /get_model_info), never SGLang's /health.
NotReady WhyNotReady(HttpClient& client, const std::string& url, EngineKind kind,
                     std::chrono::milliseconds patience, const std::stop_token& stop);
// Why a router is not ready, by /readiness. A router without that route counts as ready.
NotReady WhyRouterNotReady(HttpClient& client, const std::string& url,
                           std::chrono::milliseconds patience, const std::stop_token& stop);

}  // namespace tacho
