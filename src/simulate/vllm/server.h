#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "simulate/api_routes.h"
#include "simulate/engine/openai_request.h"
#include "simulate/engine/prompt.h"
#include "simulate/vllm/profiling.h"
#include "simulate/worker.h"

namespace tacho::simulate {

// `vllm serve`, as its clients see it: one API server in front of its data-parallel engines.
class VllmServer : public Worker {
 public:
  // If a setting is refused, fails with the message of `vllm serve`.
  static Result<std::unique_ptr<VllmServer>> Create(const WorkerOptions& options, Loop& loop,
                                                    ServerLog& log);

  void Handle(const std::shared_ptr<HttpExchange>& exchange) override;
  void OnListening(uint16_t port) override;
  void TraceWindow(const TraceWindowOrder& order) override;

 private:
  using Exchange = std::shared_ptr<HttpExchange>;
  struct EngineSlot {
    std::unique_ptr<Engine> engine;
    PrefixCache prefixes{1 << 16};
  };
  VllmServer(const WorkerOptions& options, const VllmVersion& version,
             const VllmProfilerConfig& config, Loop& loop, ServerLog& log);

  void AddRoutes();
  void EngineDied();
  // Picks the engine for a request. An error if the request names an unknown rank.
  std::variant<size_t, ApiError> PickEngine(const ServerRequest& request) const;

  void Health(const Exchange& exchange);
  void Version(const Exchange& exchange);
  void Load(const Exchange& exchange);
  void Models(const Exchange& exchange);
  void Metrics(const Exchange& exchange);
  void OpenApi(const Exchange& exchange);
  void TokenizeText(const Exchange& exchange);
  void StartProfile(const Exchange& exchange);
  void StopProfile(const Exchange& exchange);
  void ServerInfo(const Exchange& exchange);
  void Sleep(const Exchange& exchange);
  void WakeUp(const Exchange& exchange);
  void IsSleeping(const Exchange& exchange);
  void WorldSize(const Exchange& exchange);
  void CollectiveRpc(const Exchange& exchange);
  void ResetPrefixCache(const Exchange& exchange);
  void Completions(const Exchange& exchange);
  void ChatCompletions(const Exchange& exchange);
  void Complete(const Exchange& exchange, bool chat);

  VllmVersion version_;
  ApiRoutes routes_;
  std::vector<EngineSlot> engines_;
  std::unique_ptr<VllmProfiling> profiling_;
  std::string fingerprint_;
  bool healthy_ = true, sleeping_ = false;
  int64_t sleep_level_ = 0;
  int64_t created_s_ = 0;
  uint64_t next_request_ = 1;
  uint64_t answers_ = 0;  // for the fault error-in-stream
  int64_t answering_ = 0;
};

// The text of /metrics of one server: one metric after the other, each for all engines.
std::string VllmMetrics(const std::vector<const Engine*>& engines,
                        const std::vector<const PrefixCache*>& prefixes, const std::string& model,
                        const VllmVersion& version, int64_t sleep_level);

}  // namespace tacho::simulate
