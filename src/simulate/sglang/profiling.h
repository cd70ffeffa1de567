#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "simulate/sglang/profiler.h"
#include "simulate/trace/trace_flush.h"
#include "simulate/worker.h"

namespace tacho::simulate {

// SGLang's /start_profile and /stop_profile. Every scheduler (data-parallel rank) has its own
// profiler; the first scheduler to reply gives the answer.
class SglangProfiling {
 public:
  struct Parts {
    const WorkerOptions* options = nullptr;
    SglangVersion version;
    std::vector<Engine*> engines;
    Loop* loop = nullptr;
    ServerLog* log = nullptr;
    std::function<void()> die;  // called when an exception in a scheduler ends the server
  };
  explicit SglangProfiling(Parts parts);

  void Start(const std::shared_ptr<HttpExchange>& exchange);
  void Stop(const std::shared_ptr<HttpExchange>& exchange);

  bool busy() const;     // a scheduler's profiler is busy
  bool pending() const;  // busy, but every session still waits for its first step
  void Cancel();         // drops sessions that wait for their first step
  // The number of forward passes of the first engine so far.
  int64_t forwards() const;

  TraceSource SourceOf(size_t engine, int rank, const SglangProfileRequest& session) const;
  // The ranks as the log shows them, such as " DP1 TP0"; "" for a server with one rank.
  std::string RankText(size_t engine) const;

 private:
  struct Slot {
    SglangProfiler profiler;
    int recording = 0;
  };
  // Answers one exchange with the first reply that a scheduler gives. A null exchange means that no
  // client waits.
  class FirstReply;

  bool OnBatch(size_t engine, const StepBatch& batch);
  // Carries out orders one after the other, then calls `done`, with false if the server died.
  void Carry(size_t engine, std::vector<SglangProfiler::Order> orders, bool in_batch,
             std::function<void(bool alive)> done);
  void Write(size_t engine, std::string_view stage, bool in_batch,
             std::function<void(bool alive)> done);
  std::string NameOf(size_t engine, int rank, std::string_view stage) const;
  std::string PathOf(size_t engine, int rank, std::string_view stage) const;
  TraceFile FileOf(size_t engine, int rank, std::string_view stage) const;
  bool Has(FaultKind kind) const { return parts_.options->faults.Has(kind, parts_.options->index); }

  Parts parts_;
  const int64_t began_unix_ns_;  // when the server started; a clock that drifts was right then
  std::vector<Slot> slots_;
  int64_t sessions_ = 0;
  bool stalled_ = false;  // the fault stall has struck, after the first start
  std::vector<std::shared_ptr<HttpExchange>> hanging_;  // a fault leaves them unanswered
};

}  // namespace tacho::simulate
