#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "simulate/api_error.h"
#include "simulate/trace/trace_flush.h"
#include "simulate/vllm/profiler.h"
#include "simulate/worker.h"

namespace tacho::simulate {

// What vLLM's /start_profile and /stop_profile do: the session of the API server, one worker
// profiler for each engine, and the files they leave.
class VllmProfiling {
 public:
  struct Parts {
    const WorkerOptions* options = nullptr;
    VllmVersion version;
    VllmProfilerConfig config;
    std::vector<Engine*> engines;
    Loop* loop = nullptr;
    ServerLog* log = nullptr;
    std::function<void()> die;  // a worker has died, which ends the whole server
  };
  explicit VllmProfiling(Parts parts);

  // Whether the routes exist.
  bool available() const { return !parts_.config.profiler.empty(); }
  void Start(const std::shared_ptr<HttpExchange>& exchange);
  void Stop(const std::shared_ptr<HttpExchange>& exchange);
  // /collective_rpc {"method":"profile"}: bypasses the session of the API server.
  void StartWorkers(const std::string& prefix, std::function<void()> done);
  void StopWorkers(std::function<void(bool died)> done);

  const VllmProfilerConfig& config() const { return parts_.config; }
  // The content of one rank's trace apart from its steps.
  TraceSource SourceOf(size_t engine, int rank) const;

 private:
  struct Slot {
    std::unique_ptr<VllmWorkerProfiler> profiler;
    int recording = 0;  // of the engine; 0 for none
    std::string prefix;
    VllmProfilerConfig config;  // of the session
  };
  // What a start asks for: the fields of its body.
  struct Session {
    std::string prefix;
    std::optional<int64_t> delay, max;
    std::string kwargs;  // a JSON object, or ""
  };
  bool OnStep(size_t engine);
  static std::variant<Session, ApiError> ReadStart(const std::string& body, bool takes_kwargs);
  void StartEngines(const Session& session, std::function<void()> done);
  void StartEngine(size_t engine, const Session& session);
  void Flush(size_t engine, std::function<void(bool died)> done);
  std::string StemOf(size_t engine, int rank) const;
  TraceFile FileOf(const std::string& stem, int64_t time_ns) const;
  RankFlush FlushOf(size_t engine, int rank, std::shared_ptr<const Recording> recording) const;
  RankFlush FrontendFlush(Recording recording) const;
  bool one_api_server() const { return parts_.options->data_parallel == 1; }
  bool has_frontend() const {
    return one_api_server() && !parts_.config.ignore_frontend && parts_.config.profiler == "torch";
  }
  bool Has(FaultKind kind) const { return parts_.options->faults.Has(kind, parts_.options->index); }
  void Info(std::string_view place, std::string_view text) const;

  Parts parts_;
  const int64_t began_unix_ns_;  // a clock that drifts was right then
  std::vector<Slot> slots_;
  bool session_open_ = false;      // of the API server
  int64_t frontend_start_ns_ = 0;  // Unix time; 0 while it does not record
  std::string frontend_prefix_;
  int64_t sessions_ = 0;
  std::vector<std::shared_ptr<HttpExchange>> hanging_;  // never answered, by a fault
};

}  // namespace tacho::simulate
