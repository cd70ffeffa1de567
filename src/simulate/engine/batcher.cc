#include "simulate/engine/batcher.h"

#include <algorithm>

namespace tacho::simulate {

void Batcher::Add(const BatchRequest& request) {
  waiting_.push_back(request);
  BatchRequest& added = waiting_.back();
  added.prompt_tokens = std::max<int64_t>(1, added.prompt_tokens);
  added.output_tokens = std::max<int64_t>(1, added.output_tokens);
  added.cached_tokens = std::clamp<int64_t>(added.cached_tokens, 0, added.prompt_tokens - 1);
}

bool Batcher::Abort(uint64_t id) {
  const auto waits = std::ranges::find(waiting_, id, &BatchRequest::id);
  if (waits != waiting_.end()) {
    waiting_.erase(waits);
    return true;
  }
  const auto runs =
      std::ranges::find(running_, id, [](const Running& running) { return running.request.id; });
  if (runs == running_.end()) return false;
  cache_used_ -= RoomFor(runs->request);
  running_.erase(runs);
  return true;
}

int64_t Batcher::ScheduledAt(uint64_t id) const {
  const auto runs =
      std::ranges::find(running_, id, [](const Running& running) { return running.request.id; });
  return runs == running_.end() ? 0 : runs->scheduled_ns;
}

void Batcher::ScheduleContext(Running& running, int64_t& budget, StepBatch& batch) {
  const int64_t left = running.request.prompt_tokens - running.computed;
  int64_t tokens = std::min(left, budget);
  // A prompt that is longer than a step and may not be split has a step of its own.
  if (!limits_.chunked_prefill && tokens < left) tokens = batch.empty() ? left : 0;
  if (tokens <= 0) return;
  const int64_t length = running.computed + tokens;
  const bool samples = length == running.request.prompt_tokens;
  batch.shares.push_back({running.request.id, tokens, length, true, samples});
  batch.load.context.Add(tokens, length);
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

// Lets waiting requests in, first come first served.
void Batcher::Admit(int64_t now_ns) {
  while (!waiting_.empty() &&
         running_.size() < static_cast<size_t>(std::max<int64_t>(1, limits_.max_num_seqs))) {
    const BatchRequest& next = waiting_.front();
    const bool fits = cache_used_ + RoomFor(next) <= limits_.cache_tokens || running_.empty();
    if (!fits) return;
    cache_used_ += RoomFor(next);
    running_.push_back({next, next.cached_tokens, 0, now_ns, false});
    waiting_.pop_front();
  }
}

StepBatch Batcher::Schedule(int64_t now_ns) {
  Admit(now_ns);
  StepBatch batch;
  int64_t budget = std::max<int64_t>(1, limits_.max_num_batched_tokens);
  const auto reads = [](const Running& r) { return r.computed < r.request.prompt_tokens; };
  if (!limits_.mixes) {
    for (Running& running : running_) {
      if (reads(running)) ScheduleContext(running, budget, batch);
    }
    if (!batch.empty()) return batch;
  }
  for (Running& running : running_) {
    if (!reads(running)) ScheduleGeneration(running, budget, batch);
  }
  for (Running& running : running_) {
    if (reads(running)) ScheduleContext(running, budget, batch);
  }
  return batch;
}

std::vector<BatchOutput> Batcher::Complete(const StepBatch& batch) {
  std::vector<BatchOutput> outputs;
  outputs.reserve(batch.shares.size());
  // Maps each running request's id to its place in running_.
  std::map<uint64_t, size_t> places;
  for (size_t i = 0; i < running_.size(); ++i) places.emplace(running_[i].request.id, i);
  for (const BatchShare& share : batch.shares) {
    const auto place = places.find(share.id);
    if (place == places.end()) continue;
    Running& running = running_[place->second];
    running.computed = share.length_after;
    if (!share.samples) continue;
    ++running.made;
    outputs.push_back({share.id, running.made == 1, running.made >= running.request.output_tokens});
  }
  std::erase_if(running_, [&](const Running& running) {
    if (running.made < running.request.output_tokens) return false;
    cache_used_ -= RoomFor(running.request);
    return true;
  });
  return outputs;
}

}  // namespace tacho::simulate
