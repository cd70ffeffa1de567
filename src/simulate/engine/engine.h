#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulate/engine/batcher.h"
#include "simulate/engine/cost_model.h"
#include "simulate/engine/engine_stats.h"
#include "simulate/engine/loop.h"
#include "simulate/engine/recording.h"

namespace tacho::simulate {

struct EngineOptions {
  SimulatedEngine kind = SimulatedEngine::kVllm;
  CostModel cost;
  BatcherLimits limits;
  uint64_t seed = 1;
  bool empty_step_at_end = true;  // as vLLM does: one more step with an empty batch
  double profiler_slowdown = 0;   // a step takes longer by this share while a recording is open
};

// Receives the tokens of one request, on the loop's thread.
class TokenListener {
 public:
  virtual ~TokenListener() = default;
  // Called for each token, with its monotonic time. `last`: the request is over.
  virtual void OnToken(int64_t now_ns, bool last) = 0;
  // False if the client has gone; the engine then aborts the request.
  virtual bool IsWanted() const = 0;
  virtual void OnAborted() = 0;
};

// One scheduler with its batch and its tensor-parallel ranks. Takes requests, runs one step after
// the other in the loop's time, and records steps for its profilers. Use it only on the loop's
// thread.
class Engine {
 public:
  Engine(const EngineOptions& options, Loop& loop)
      : options_(options), loop_(loop), batcher_(options.limits) {}

  void Submit(BatchRequest request, std::shared_ptr<TokenListener> listener);
  // Removes the request without calling its listener.
  void Abort(uint64_t id);
  void AbortAll();

  // Called before each step with the step's content. If it returns false (the engine is writing a
  // trace, or is dead), the engine stalls until Resume.
  using Gate = std::function<bool(const StepBatch&)>;
  void set_gate(Gate gate) { gate_ = std::move(gate); }
  // Called after each step with its recorded form and its duration.
  using StepDone = std::function<void(const RecordedStep&, int64_t dur_ns)>;
  void set_step_done(StepDone done) { step_done_ = std::move(done); }
  void Stall() { stalled_ = true; }
  // Stalls for `time_ns`, then resumes.
  void StallFor(int64_t time_ns);
  void Resume();
  void Kill();

  // Runs `job` between two steps, which is when engines handle profiler requests. If no step runs
  // and the engine is not stalled, runs it at once.
  void BetweenSteps(std::function<void()> job);

  // Any number of recordings may be open. A recording that is opened during a step includes that
  // step.
  int OpenRecording();
  Recording CloseRecording(int id);
  bool IsOpen(int id) const { return recordings_.contains(id); }
  // Marks later steps as ProfilerStep#N, or with no mark.
  void set_profiler_step(std::optional<int64_t> step) { profiler_step_ = step; }

  bool busy() const { return busy_; }
  bool stalled() const { return stalled_; }
  bool dead() const { return dead_; }
  const Batcher& batcher() const { return batcher_; }
  const EngineStats& stats() const { return stats_; }
  const EngineOptions& options() const { return options_; }
  uint64_t steps() const { return next_step_; }
  int64_t forwards() const { return forwards_; }

 private:
  struct Live {
    std::shared_ptr<TokenListener> listener;
    BatchRequest request;
    int64_t scheduled_ns = 0, first_token_ns = 0, last_token_ns = 0, tokens = 0;
  };
  void Wake();
  void BeginStep(bool after_idle);
  void RunStep();
  void EndStep(int64_t planned_end_ns);
  void Deliver(const BatchOutput& output, int64_t now_ns);
  void Finish(uint64_t id, Live& live, int64_t now_ns);
  void Count(const StepLoad& load);
  void DropUnwanted();
  void RunBetween();

  EngineOptions options_;
  Loop& loop_;
  Batcher batcher_;
  EngineStats stats_;
  Gate gate_;
  StepDone step_done_;
  std::unordered_map<uint64_t, Live> live_;
  std::vector<std::function<void()>> between_;
  std::unordered_map<int, Recording> recordings_;
  int next_recording_ = 1;

  StepBatch batch_;
  RecordedStep step_;
  bool pending_ = false;  // batch_ is scheduled and waits for the gate
  bool busy_ = false, stalled_ = false, dead_ = false, wake_posted_ = false;
  bool ran_something_ = false;  // a step with requests ran since the last empty one
  bool after_idle_ = false;     // the engine was idle before batch_
  uint64_t next_step_ = 0;
  int64_t forwards_ = 0;
  int64_t step_start_ns_ = 0;
  std::optional<int64_t> profiler_step_;
  int64_t second_began_ns_ = 0, second_tokens_ = 0;
};

}  // namespace tacho::simulate
