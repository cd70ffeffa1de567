#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "simulate/api_routes.h"
#include "simulate/engine/openai_request.h"
#include "simulate/engine/prompt.h"
#include "simulate/sglang/format.h"
#include "simulate/sglang/profiling.h"
#include "simulate/worker.h"

namespace tacho::simulate {

// `python -m sglang.launch_server`, as its clients see it.
class SglangServer : public Worker {
 public:
  static Result<std::unique_ptr<SglangServer>> Create(const WorkerOptions& options, Loop& loop,
                                                      ServerLog& log);

  void Handle(const std::shared_ptr<HttpExchange>& exchange) override;
  void OnListening(uint16_t port) override;
  void TraceWindow(const TraceWindowOrder& order) override;
  SglangProfiling& profiling() { return *profiling_; }

  // Counters for /metrics that the engines do not keep.
  struct Counts {
    std::map<std::pair<std::string, std::string>, uint64_t> requests;  // by endpoint and method
    std::map<std::pair<std::string, std::string>, uint64_t> responses;
    uint64_t answers = 0;
  };

 private:
  using Exchange = std::shared_ptr<HttpExchange>;
  struct EngineSlot {
    std::unique_ptr<Engine> engine;
    PrefixCache prefixes{1 << 16};
    int64_t decode_steps = 0;
  };
  SglangServer(const WorkerOptions& options, const SglangVersion& version, Loop& loop,
               ServerLog& log);
  void AddRoutes();
  void SchedulerDied();
  void LogStep(size_t engine, const RecordedStep& step);

  void Ready(const Exchange& exchange);
  void Ping(const Exchange& exchange);
  void Health(const Exchange& exchange);
  void AnswerHealth(const Exchange& exchange, const std::shared_ptr<bool>& answered,
                    int64_t give_up_ns);
  void ModelInfo(const Exchange& exchange);
  void ServerInfo(const Exchange& exchange);
  void Models(const Exchange& exchange);
  void Loads(const Exchange& exchange);
  void Metrics(const Exchange& exchange);
  void OpenApi(const Exchange& exchange);
  void FlushCache(const Exchange& exchange);
  void Pause(const Exchange& exchange);
  void Continue(const Exchange& exchange);
  void ReleaseMemory(const Exchange& exchange);
  void ResumeMemory(const Exchange& exchange);
  void Generate(const Exchange& exchange);
  void Complete(const Exchange& exchange, bool chat);
  // Submits texts to the engine of `rank` (-1: the least busy one) and answers as their tokens
  // come.
  struct Asked {
    std::vector<std::vector<int64_t>> prompts;
    int64_t copies = 1, most_tokens = 1, rank = -1;
    bool ignore_eos = false, stream = false;
  };
  using FormatMaker = std::function<std::unique_ptr<AnswerFormat>(const SglangAnswerFacts&)>;
  void Run(const Exchange& exchange, const Asked& asked, const std::string& rid,
           const FormatMaker& format);
  EngineSlot& Pick(int64_t rank);

  SglangVersion version_;
  ApiRoutes routes_;
  std::vector<EngineSlot> engines_;
  std::unique_ptr<SglangProfiling> profiling_;
  Counts counts_;
  bool healthy_ = true, paused_ = false, memory_released_ = false;
  uint64_t next_request_ = 1;
  int64_t created_s_ = 0;
};

// The text of /metrics of a server that was started with --enable-metrics.
std::string SglangMetrics(const std::vector<const Engine*>& engines,
                          const std::vector<const PrefixCache*>& prefixes, const std::string& model,
                          const SglangServer::Counts& counts);

}  // namespace tacho::simulate
