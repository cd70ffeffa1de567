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
  int64_t max_num_batched_tokens = 8192;  // new tokens of one step
  bool chunked_prefill = true;     // a prompt may be read in several steps; else only as a whole
  bool mixes = true;               // prompts and generation share a step (vLLM); else prompts first
  int64_t cache_tokens = 400'000;  // room of the key-value cache
  // True: a request enters if the cache has room for its prompt. If the cache then lacks room for
  // the next token of every request, the request that came last loses its part of the cache and
  // waits, first in line, until all its tokens can be read again. False: a request enters only if
  // there is room for its whole answer too.
  bool preempts = false;
};

struct BatchRequest {
  uint64_t id = 0;
  int64_t prompt_tokens = 0;
  int64_t cached_tokens = 0;  // at the prompt's beginning; at least one token is always computed
  int64_t output_tokens = 1;  // it ends after this many
  int64_t arrival_ns = 0;
};

// One request's part of a step.
struct BatchShare {
  uint64_t id = 0;
  int64_t tokens = 0;        // new in this step
  int64_t length_after = 0;  // of the request, once the step is done
  bool is_context = false;   // its prompt is being read
  bool samples = false;      // it gets a token from this step
};
struct StepBatch {
  std::vector<BatchShare> shares;
  StepLoad load;
  bool empty() const { return shares.empty(); }
};

// The result of a finished step for a request.
struct BatchOutput {
  uint64_t id = 0;
  bool first_token = false;
  bool finished = false;
};

// Continuous batching: requests in, steps out; times are passed in as values. Running requests stay
// in the batch. Waiting ones enter in order, while the limits of requests and tokens allow it and
// the cache has room. A preempted request that is read again counts as a generating request with
// several tokens if prompts and generation share a step (vLLM), else as a prompt.
class Batcher {
 public:
  explicit Batcher(const BatcherLimits& limits) : limits_(limits) {}

  void Add(const BatchRequest& request);
  // Removes a request in any state. False if it is not, or no longer, here.
  bool Abort(uint64_t id);
  // The next step, empty if there is nothing to do. Call Complete for the previous step first.
  StepBatch Schedule();
  // Ends the scheduled step. Returns the requests that got a token, in the order of the batch. A
  // request that was aborted meanwhile gets none.
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
    int64_t made = 0;      // tokens of the answer
    bool was_in_a_step = false;

    // The tokens to read before the next token can be made.
    [[nodiscard]] int64_t to_read() const { return request.prompt_tokens + made - computed; }
    [[nodiscard]] bool reads() const { return made == 0 || to_read() > 1; }
  };
  int64_t RoomFor(const Running& running) const {
    return running.request.prompt_tokens +
           (limits_.preempts ? running.made : running.request.output_tokens);
  }
  void ScheduleContext(Running& running, int64_t& budget, StepBatch& batch);
  void ScheduleGeneration(Running& running, int64_t& budget, StepBatch& batch);
  void Admit();
  bool Preempt();

  BatcherLimits limits_;
  std::deque<Running> waiting_;
  std::vector<Running> running_;  // in the order they came in
};

}  // namespace tacho::simulate
