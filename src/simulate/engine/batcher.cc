#include "simulate/engine/batcher.h"

#include <algorithm>
#include <iterator>

#include "base/random.h"

namespace tacho::simulate {

void Batcher::Add(const BatchRequest& request) {
  BatchRequest& added = waiting_.emplace_back(Running{request}).request;
  added.prompt_tokens = std::max<int64_t>(1, added.prompt_tokens);
  added.output_tokens = std::max<int64_t>(1, added.output_tokens);
  added.cached_tokens = std::clamp<int64_t>(added.cached_tokens, 0, added.prompt_tokens - 1);
}

int64_t Batcher::cache_tokens_used() const {
  int64_t used = 0;
  for (const Running& running : running_) used += RoomFor(running);
  return used;
}

bool Batcher::Abort(uint64_t id) {
  const auto is_it = [&](const Running& one) { return one.request.id == id; };
  return std::erase_if(waiting_, is_it) + std::erase_if(running_, is_it) > 0;
}

void Batcher::ScheduleContext(Running& running, int64_t& budget, StepBatch& batch) {
  const int64_t left = running.to_read();
  int64_t tokens = std::min(left, budget);
  // A prompt that is longer than the limit but may not be split gets a step of its own.
  if (!limits_.chunked_prefill && tokens < left) tokens = batch.empty() ? left : 0;
  if (tokens <= 0) return;
  const int64_t length = running.computed + tokens;
  const bool samples = tokens == left, is_context = running.made == 0 || !limits_.mixes;
  batch.shares.push_back({running.request.id, tokens, length, is_context, samples});
  (is_context ? batch.load.context : batch.load.generation).Add(tokens, length);
  batch.load.sampled += samples ? 1 : 0;
  batch.load.new_requests += running.was_in_a_step ? 0 : 1;
  running.was_in_a_step = true;
  budget -= tokens;
}

void Batcher::ScheduleGeneration(Running& running, int64_t& budget, StepBatch& batch) {
  if (budget <= 0) return;
  batch.shares.push_back({running.request.id, 1, running.computed + 1, false, true});
  batch.load.generation.Add(1, running.computed + 1);
  ++batch.load.sampled;
  --budget;
}

// Makes a step that only generates verify tokens of each request.
void Batcher::Speculate(StepBatch& batch) const {
  StepLoad& load = batch.load;
  load.generation = {};
  load.proposed = limits_.proposed;
  load.accepted = load.sampled = 0;
  for (BatchShare& share : batch.shares) {
    Random random(share.id, static_cast<uint64_t>(share.length_after));
    while (share.accepted < limits_.proposed && random.Uniform() < limits_.acceptance)
      ++share.accepted;
    share.tokens = limits_.proposed + 1;
    load.generation.Add(share.tokens, share.length_after + limits_.proposed);
    load.sampled += share.tokens;
    load.accepted += share.accepted;
    share.length_after += share.accepted;
  }
}

// Moves waiting requests into the batch, first come first served.
void Batcher::Admit() {
  while (!waiting_.empty() &&
         running_.size() < static_cast<size_t>(std::max<int64_t>(1, limits_.max_num_seqs))) {
    const Running& next = waiting_.front();
    const bool fits =
        cache_tokens_used() + RoomFor(next) <= limits_.cache_tokens || running_.empty();
    if (!fits) return;
    Running& added = running_.emplace_back(next);
    added.computed = added.request.cached_tokens;
    waiting_.pop_front();
  }
}

// Removes requests until the cache has room again; at least one stays. Returns whether it removed
// any.
bool Batcher::Preempt() {
  if (!limits_.preempts) return false;
  bool any = false;
  while (running_.size() > 1 && cache_tokens_used() + std::ssize(running_) > limits_.cache_tokens) {
    waiting_.push_front(running_.back());
    running_.pop_back();
    any = true;
  }
  return any;
}

StepBatch Batcher::Schedule() {
  if (!Preempt()) Admit();
  StepBatch batch;
  int64_t budget = std::max<int64_t>(1, limits_.max_num_batched_tokens);
  if (!limits_.mixes) {
    for (Running& running : running_) {
      if (running.reads()) ScheduleContext(running, budget, batch);
    }
    if (!batch.empty()) return batch;
  }
  for (Running& running : running_) {
    if (!running.reads()) ScheduleGeneration(running, budget, batch);
  }
  for (Running& running : running_) {
    if (running.reads()) ScheduleContext(running, budget, batch);
  }
  // A step that reads a preempted request again has more new tokens than it samples.
  const bool may_speculate =
      !batch.empty() && batch.load.context.requests == 0 &&
      batch.load.sampled == batch.load.generation.tokens &&
      batch.load.sampled * (limits_.proposed + 1) <= limits_.max_num_batched_tokens;
  if (may_speculate && limits_.proposed > 0 && generating_steps_++ % 4 != 3) Speculate(batch);
  return batch;
}

std::vector<BatchOutput> Batcher::Complete(const StepBatch& batch) {
  std::vector<BatchOutput> outputs;
  outputs.reserve(batch.shares.size());
  // Maps each running request's id to its index in running_.
  std::map<uint64_t, size_t> places;
  for (size_t i = 0; i < running_.size(); ++i) places.emplace(running_[i].request.id, i);
  for (const BatchShare& share : batch.shares) {
    const auto place = places.find(share.id);
    if (place == places.end()) continue;
    Running& running = running_[place->second];
    running.computed = share.length_after;
    if (!share.samples) continue;
    const bool first = running.made == 0;
    const int64_t tokens =
        std::min(1 + share.accepted, running.request.output_tokens - running.made);
    running.made += tokens;
    outputs.push_back({share.id, tokens, first, running.made >= running.request.output_tokens});
  }
  std::erase_if(running_, [](const Running& running) {
    return running.made >= running.request.output_tokens;
  });
  return outputs;
}

}  // namespace tacho::simulate
