#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "control/engine.h"
#include "net/http.h"

namespace tacho {

// The routes of a probe. They are harmless on every engine: they run no model step and change
// nothing. (SGLang's GET /start_profile would start one; its /health runs a forward.)
enum ProbeRoute : size_t {
  kOpenApi,
  kVersion,
  kModels,
  kMetrics,
  kIsSleeping,
  kServerInfo,
  kOldServerInfo,
  kModelInfo,
  kProbeRoutes,
};
constexpr std::array<std::string_view, kProbeRoutes> kProbePaths{
    "/openapi.json",    "/version",     "/v1/models",
    "/metrics",         "/is_sleeping", "/server_info?config_format=json",
    "/get_server_info", "/model_info"};

// The answers of one server, by route; absent without an answer.
using ProbeAnswers = std::array<std::optional<HttpResponse>, kProbeRoutes>;

// The facts in the answers. A pure function. kRemote if the server is not an engine: the message
// says what it seems to be.
Result<EngineFacts> ReadFacts(const std::string& url, const ProbeAnswers& answers);

// The facts of a router that stands for the engines behind it.
EngineFacts FactsInPlace(const Worker& worker);

// Adds the facts in vLLM's profiler configuration (the JSON of --profiler-config, or what the
// server reports of it) that are not known yet. Any other text adds nothing.
void ReadProfilerConfig(std::string_view text, ProfilerFacts& facts);

}  // namespace tacho
