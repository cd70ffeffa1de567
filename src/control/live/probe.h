#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/engine.h"
#include "net/http_client.h"

namespace tacho {

// Asks each engine what it is, all at the same time, by routes that do not run the model and change
// nothing (never SGLang's /health, which runs a forward pass). kRemote for a server that does not
// answer, or that is not an engine (the message says what it answered).
std::vector<Result<EngineFacts>> ProbeAll(HttpClient& client, const std::vector<Worker>& workers,
                                          std::chrono::milliseconds patience,
                                          std::stop_token stop = {});

// The counters of one engine in a server's /metrics at one moment. vLLM names the engine by the
// label `engine`, SGLang by its data-parallel rank.
struct EngineCounters {
  std::string engine;                                             // "0"
  std::optional<double> steps, prompt_tokens, generation_tokens;  // since the engine's start
  // Forward passes since the engine's start, for engines that do not count steps.
  std::optional<double> passes;
  std::optional<double> running, waiting, kv_cache_share;
};
struct MetricsSnapshot {
  int64_t at_ns = 0;  // CLOCK_MONOTONIC, midway between request and answer
  std::string text;   // as the engine sent it; goes into the run folder
  std::vector<EngineCounters> engines;
};
std::vector<Result<MetricsSnapshot>> ReadMetricsAll(HttpClient& client,
                                                    const std::vector<Worker>& workers,
                                                    std::chrono::milliseconds patience,
                                                    std::stop_token stop = {});

}  // namespace tacho
