#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "simulate/engine/step_load.h"

namespace tacho::simulate {

struct BatcherLimits {
  int64_t max_num_seqs = 256;
  int64_t max_num_batched_tokens = 8192;  // new tokens per step
  // Several steps may share the reading of a prompt; else one step reads it.
  bool chunked_prefill = true;
  bool mixes = true;  // prompts and generation share a step (vLLM); else prompts come first
  int64_t cache_tokens = 400'000;  // tokens for which the key-value cache has room
  // True: a request enters once the cache has room for its prompt. If the cache then lacks room for
  // the next token of every request, the request that came last is preempted: it loses its part of
  // the cache and waits, first in line, until there is room to read all its tokens again. False: a
  // request enters only once there is room for its prompt and its whole answer.
  bool preempts = false;
  // Speculative decoding: a step that only generates verifies so many tokens of each request, and
  // accepts each with this probability, up to the first that it rejects. One in four stays plain.
  int64_t proposed = 0;
  double acceptance = 0;
};

struct BatchRequest {
  uint64_t id = 0;
  int64_t prompt_tokens = 0;
  // Tokens at the prompt's start; at least one token of a prompt is always computed.
  int64_t cached_tokens = 0;
  int64_t output_tokens = 1;  // the request ends after this many
  int64_t arrival_ns = 0;
};

// One request's part of a step.
struct BatchShare {
  uint64_t id = 0;
  int64_t tokens = 0;        // new tokens in this step
  int64_t length_after = 0;  // the request's length once the step is done
  bool is_context = false;   // the step reads the request's prompt
  bool samples = false;      // the step makes a token for the request
  int64_t accepted = 0;      // tokens that it makes beside this one, because they were proposed
};
struct StepBatch {
  std::vector<BatchShare> shares;
  StepLoad load;
  bool empty() const { return shares.empty(); }
};

// What a finished step gave one request.
struct BatchOutput {
  uint64_t id = 0;
  int64_t tokens = 1;
  bool first_token = false;  // the first of them begins the answer
  bool finished = false;
};

// Continuous batching: turns requests into steps; all times are passed in. Running requests stay in
// the batch. Waiting ones enter in order, as long as the limits on requests and tokens and the room
// in the cache allow it. While a preempted request is read again, the load counts it as a
// generating request with several tokens if prompts and generation share a step (vLLM), else as a
// prompt.
class Batcher {
 public:
  explicit Batcher(const BatcherLimits& limits) : limits_(limits) {}

  void Add(const BatchRequest& request);
  // Removes a request in any state. False if there is no such request (any more).
  bool Abort(uint64_t id);
  // Returns the next step, empty if there is nothing to do. Call Complete for the previous step
  // first.
  StepBatch Schedule();
  // Ends the scheduled step. Returns the requests that got a token, in the order of the batch,
  // without those that were aborted meanwhile.
  std::vector<BatchOutput> Complete(const StepBatch& batch);

  size_t running() const { return running_.size(); }
  size_t waiting() const { return waiting_.size(); }
  bool idle() const { return running_.empty() && waiting_.empty(); }
  int64_t cache_tokens_used() const;
  const BatcherLimits& limits() const { return limits_; }

 private:
  struct Running {
    BatchRequest request;
    int64_t computed = 0;  // tokens in the cache
    int64_t made = 0;      // tokens of the answer so far
    bool was_in_a_step = false;

    // How many tokens must be read before the next token can be made.
    [[nodiscard]] int64_t to_read() const { return request.prompt_tokens + made - computed; }
    [[nodiscard]] bool reads() const { return made == 0 || to_read() > 1; }
  };
  int64_t RoomFor(const Running& running) const {
    return running.request.prompt_tokens +
           (limits_.preempts ? running.made : running.request.output_tokens);
  }
  void ScheduleContext(Running& running, int64_t& budget, StepBatch& batch);
  void ScheduleGeneration(Running& running, int64_t& budget, StepBatch& batch);
  void Speculate(StepBatch& batch) const;
  void Admit();
  bool Preempt();

  BatcherLimits limits_;
  uint64_t generating_steps_ = 0;  // steps that only generate
  std::deque<Running> waiting_;
  std::vector<Running> running_;  // in the order in which they entered
};

}  // namespace tacho::simulate
