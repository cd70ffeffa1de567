#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/http_server.h"
#include "simulate/engine/engine.h"
#include "simulate/engine/faults.h"
#include "simulate/engine/loop.h"
#include "simulate/server_log.h"
#include "simulate/trace/trace_window.h"

namespace tacho::simulate {

// What surrounds or replaces a vLLM or SGLang server. kDynamo puts other routes around it.
// kTensorRtLlm and kTokenSpeed are other engines, which write SGLang's traces under other names.
enum class HostKind : uint8_t { kNone, kTensorRtLlm, kTokenSpeed, kDynamo };

// The settings of a simulated server process.
struct WorkerOptions {
  int64_t index = 0;  // number of this worker; faults refer to it
  SimulatedEngine kind = SimulatedEngine::kVllm;
  HostKind host = HostKind::kNone;
  std::string version;  // version of the engine, even if a host surrounds it
  std::string served_model;
  CostModel cost;
  BatcherLimits limits;
  int data_parallel = 1;
  uint64_t seed = 1;
  std::string host_name = "sim";
  // The server's pid. If the ranks are not processes of their own, this pid and the ranks' pids
  // belong to no real process: Linux assigns no pid above 4,194,304.
  int64_t pid = 5'000'000;
  // The pids by engine and rank, if each rank is a process. If empty, numbers after `pid` are used.
  std::vector<int64_t> rank_pids;
  int64_t max_model_len = 32'768;
  int64_t stream_interval = 1;  // tokens per chunk
  bool prefix_caching = true;
  double profiler_slowdown = 0;  // see EngineOptions
  bool dev_mode = false;         // vLLM: VLLM_SERVER_DEV_MODE=1
  bool enable_metrics = true;    // SGLang: --enable-metrics
  bool echoes_request_id = false;
  bool logs_iterations = false, logs_requests = false;
  std::string profiler_config;  // vLLM's --profiler-config as JSON; "" for none
  // SGLang: SGLANG_TORCH_PROFILER_DIR. vLLM: used if `profiler_config` names no folder.
  std::string trace_folder;
  std::string temp_folder;  // TMPDIR
  int gzip_level = 1;
  bool truth = false;  // writes the expected figures beside each trace
  Faults faults;

  std::string instance_id;  // vLLM: five hexadecimal digits, new at each start
  int64_t PidOf(size_t engine, int rank) const {
    const size_t at =
        engine * static_cast<size_t>(cost.tensor_parallel) + static_cast<size_t>(rank);
    return rank_pids.empty() ? pid + 10 + static_cast<int64_t>(at) : rank_pids.at(at);
  }
};

// A simulated server process: one HTTP port, one or more engines. Used on the loop's thread.
class Worker {
 public:
  virtual ~Worker() = default;
  virtual void Handle(const std::shared_ptr<HttpExchange>& exchange) = 0;
  virtual void OnListening(uint16_t port) = 0;
  // Records a trace window of one of its ranks, without HTTP, as Kineto's daemon requests it.
  virtual void TraceWindow(const TraceWindowOrder& order) = 0;

  const WorkerOptions& options() const { return options_; }
  // For each engine: the pids of its ranks.
  std::vector<int64_t> RankPids() const {
    std::vector<int64_t> pids;
    for (int engine = 0; engine < options_.data_parallel; ++engine) {
      for (int rank = 0; rank < options_.cost.tensor_parallel; ++rank) {
        pids.push_back(options_.PidOf(static_cast<size_t>(engine), rank));
      }
    }
    return pids;
  }
  bool alive() const { return alive_; }
  // Called once, when the process has died.
  void set_on_death(std::function<void()> on_death) { on_death_ = std::move(on_death); }

 protected:
  Worker(const WorkerOptions& options, Loop& loop, ServerLog& log)
      : options_(options), loop_(loop), log_(log) {}
  void Die() {
    if (!alive_) return;
    alive_ = false;
    if (on_death_) on_death_();
  }
  bool Has(FaultKind kind) const { return options_.faults.Has(kind, options_.index); }

  const WorkerOptions options_;
  Loop& loop_;
  ServerLog& log_;

 private:
  bool alive_ = true;
  std::function<void()> on_death_;
};

}  // namespace tacho::simulate
