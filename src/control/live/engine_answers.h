#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "control/engine.h"
#include "net/http.h"

namespace tacho {

// The routes that a probe asks. They are harmless on every engine: they do not run the model and
// change nothing. (SGLang's GET /start_profile would start a profile; its /health runs a forward
// pass.)
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

// The answers of one server, by route; absent if the route gave no answer.
using ProbeAnswers = std::array<std::optional<HttpResponse>, kProbeRoutes>;

// Reads the facts from the answers. A pure function. kRemote if the server is not an engine: the
// message says what it seems to be.
Result<EngineFacts> ReadFacts(const std::string& url, const ProbeAnswers& answers);

// The facts of a router that stands for its engines.
EngineFacts FactsInPlace(const Worker& worker);

// Adds those facts from vLLM's profiler configuration (the JSON of --profiler-config, or as the
// server reports it) that are not known yet. Ignores any other text.
void ReadProfilerConfig(std::string_view text, ProfilerFacts& facts);

}  // namespace tacho
