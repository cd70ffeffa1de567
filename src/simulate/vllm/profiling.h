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

// vLLM's /start_profile and /stop_profile: the session of the API server, one worker profiler per
// engine, and the files that they write.
class VllmProfiling {
 public:
  struct Parts {
    const WorkerOptions* options = nullptr;
    VllmVersion version;
    VllmProfilerConfig config;
    std::vector<Engine*> engines;
    Loop* loop = nullptr;
    ServerLog* log = nullptr;
    std::function<void()> die;  // called when a worker has died, which ends the whole server
  };
  explicit VllmProfiling(Parts parts);

  // Whether the two routes exist.
  bool available() const { return !parts_.config.profiler.empty(); }
  void Start(const std::shared_ptr<HttpExchange>& exchange);
  void Stop(const std::shared_ptr<HttpExchange>& exchange);
  // For /collective_rpc {"method":"profile"}, which bypasses the API server's session.
  void StartWorkers(const std::string& prefix, std::function<void()> done);
  void StopWorkers(std::function<void(bool died)> done);

  const VllmProfilerConfig& config() const { return parts_.config; }
  // What one rank's trace holds apart from its steps.
  TraceSource SourceOf(size_t engine, int rank) const;

 private:
  struct Slot {
    std::unique_ptr<VllmWorkerProfiler> profiler;
    int recording = 0;  // id of the engine's recording; 0 for none
    std::string prefix;
    VllmProfilerConfig config;  // configuration of the session
  };
  // The fields in the body of a start.
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
  const int64_t began_unix_ns_;  // when the server started; a clock that drifts was right then
  std::vector<Slot> slots_;
  bool session_open_ = false;      // the API server's session
  int64_t frontend_start_ns_ = 0;  // Unix time; 0 while the front end does not record
  std::string frontend_prefix_;
  int64_t sessions_ = 0;
  std::vector<std::shared_ptr<HttpExchange>> hanging_;  // a fault leaves them unanswered
};

}  // namespace tacho::simulate
