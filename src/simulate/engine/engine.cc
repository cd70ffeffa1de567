#include "simulate/engine/engine.h"

#include <utility>

#include "simulate/engine/step_plan.h"

namespace tacho::simulate {
namespace {

double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

void Engine::Submit(BatchRequest request, std::shared_ptr<TokenListener> listener) {
  if (dead_) return;
  request.arrival_ns = loop_.NowNs();
  batcher_.Add(request);
  live_[request.id] = {std::move(listener), request};
  Wake();
}

void Engine::Abort(uint64_t id) {
  batcher_.Abort(id);
  if (live_.erase(id) > 0) ++stats_.finished[static_cast<size_t>(FinishReason::kAbort)];
}

void Engine::AbortAll() {
  std::vector<std::shared_ptr<TokenListener>> listeners;
  for (auto& [id, live] : live_) {
    batcher_.Abort(id);
    listeners.push_back(std::move(live.listener));
    ++stats_.finished[static_cast<size_t>(FinishReason::kAbort)];
  }
  live_.clear();
  for (const auto& listener : listeners) listener->OnAborted();
}

void Engine::Kill() {
  dead_ = true;
  stalled_ = true;
  between_.clear();
  AbortAll();
}

void Engine::StallFor(int64_t time_ns) {
  if (time_ns <= 0) return;
  Stall();
  loop_.At(loop_.NowNs() + time_ns, [this] { Resume(); });
}

void Engine::Resume() {
  if (dead_) return;
  stalled_ = false;
  if (busy_) return;
  if (pending_) {
    RunStep();
    return;
  }
  RunBetween();
  Wake();
}

void Engine::BetweenSteps(std::function<void()> job) {
  if (dead_) return;
  if (busy_ || stalled_) {
    between_.push_back(std::move(job));
  } else {
    job();
  }
}

int Engine::OpenRecording() {
  const int id = next_recording_++;
  Recording& recording = recordings_[id];
  recording.start_ns = loop_.UnixNs(loop_.NowNs());
  if (busy_) recording.steps.push_back(step_);
  return id;
}

Recording Engine::CloseRecording(int id) {
  const auto found = recordings_.find(id);
  if (found == recordings_.end()) return {};
  Recording recording = std::move(found->second);
  recordings_.erase(found);
  recording.end_ns = loop_.UnixNs(loop_.NowNs());
  recording.ends_idle = !busy_ && !pending_ && batcher_.idle();
  return recording;
}

// Starts a step, but only after all jobs that now wait on the loop, so that requests that arrive
// together are in the same step.
void Engine::Wake() {
  if (busy_ || stalled_ || dead_ || pending_ || wake_posted_) return;
  wake_posted_ = true;
  loop_.Post([this] {
    wake_posted_ = false;
    if (!busy_ && !stalled_ && !dead_ && !pending_) {
      BeginStep(true);
    }
  });
}

void Engine::BeginStep(bool after_idle) {
  DropUnwanted();
  batch_ = batcher_.Schedule();
  if (batch_.empty() && !(ran_something_ && options_.empty_step_at_end)) {
    ran_something_ = false;
    return;
  }
  ran_something_ = !batch_.empty();
  after_idle_ = after_idle;
  pending_ = true;
  if (gate_ && !gate_(batch_)) {
    if (!stalled_) stalled_ = true;
    return;
  }
  if (!stalled_) RunStep();
}

void Engine::RunStep() {
  pending_ = false;
  busy_ = true;
  step_start_ns_ = loop_.NowNs();
  if (!batch_.empty()) ++forwards_;
  step_ = {next_step_++, loop_.UnixNs(step_start_ns_), batch_.load, profiler_step_, forwards_, true,
           after_idle_};
  for (auto& [id, recording] : recordings_) recording.steps.push_back(step_);
  for (const BatchShare& share : batch_.shares) {
    const auto live = live_.find(share.id);
    if (live != live_.end() && live->second.scheduled_ns == 0) {
      live->second.scheduled_ns = step_start_ns_;
    }
  }
  const StepPlan plan =
      PlanStep(options_.kind, options_.cost, batch_.load, options_.seed, step_.index);
  // In the trace, the slowdown appears as idle time at the end of the step.
  const double longer = recordings_.empty() ? 0 : options_.profiler_slowdown;
  const int64_t end = step_start_ns_ + plan.duration_ns +
                      static_cast<int64_t>(static_cast<double>(plan.duration_ns) * longer);
  loop_.At(end, [this, end] { EndStep(end); });
}

void Engine::EndStep(int64_t planned_end_ns) {
  if (dead_) return;
  const int64_t now = loop_.NowNs();
  Count(batch_.load);
  const std::vector<BatchOutput> outputs = batcher_.Complete(batch_);
  const int64_t duration = planned_end_ns - step_start_ns_;
  busy_ = false;
  for (const BatchOutput& output : outputs) {
    for (int64_t i = 0; i < output.tokens; ++i)
      Deliver(
          {output.id, 1, output.first_token && i == 0, output.finished && i + 1 == output.tokens},
          now);
  }
  if (step_done_) step_done_(step_, duration);
  RunBetween();
  if (!busy_ && !stalled_ && !dead_ && !pending_) BeginStep(false);
}

// A job may stall the engine; the jobs after it then wait until it resumes.
void Engine::RunBetween() {
  while (!between_.empty() && !stalled_ && !dead_) {
    const auto job = std::move(between_.front());
    between_.erase(between_.begin());
    job();
  }
}

void Engine::Count(const StepLoad& load) {
  if (load.empty()) return;
  ++stats_.steps;
  stats_.step_tokens.Observe(static_cast<double>(load.tokens()));
  const int64_t now = loop_.NowNs();
  if (now - second_began_ns_ >= 1'000'000'000) {
    stats_.last_generation_tokens_s =
        static_cast<double>(second_tokens_) / Seconds(now - second_began_ns_);
    second_began_ns_ = now;
    second_tokens_ = 0;
  }
  second_tokens_ += load.proposed > 0 ? load.generation.requests + load.accepted : load.sampled;
  stats_.Count(load);
}

void Engine::Deliver(const BatchOutput& output, int64_t now_ns) {
  const auto found = live_.find(output.id);
  if (found == live_.end()) return;
  Live& live = found->second;
  ++live.tokens;
  ++stats_.generation_tokens;
  if (output.first_token) {
    live.first_token_ns = now_ns;
    stats_.prompt_tokens += static_cast<uint64_t>(live.request.prompt_tokens);
    stats_.cached_tokens += static_cast<uint64_t>(live.request.cached_tokens);
    stats_.first_token_s.Observe(Seconds(now_ns - live.request.arrival_ns));
    stats_.queue_s.Observe(Seconds(live.scheduled_ns - live.request.arrival_ns));
  } else {
    stats_.inter_token_s.Observe(Seconds(now_ns - live.last_token_ns));
  }
  live.last_token_ns = now_ns;
  const auto listener = live.listener;
  if (output.finished) Finish(output.id, live, now_ns);
  listener->OnToken(now_ns, output.finished);
}

void Engine::Finish(uint64_t id, Live& live, int64_t now_ns) {
  stats_.e2e_s.Observe(Seconds(now_ns - live.request.arrival_ns));
  stats_.inference_s.Observe(Seconds(now_ns - live.scheduled_ns));
  stats_.prefill_s.Observe(Seconds(live.first_token_ns - live.scheduled_ns));
  stats_.decode_s.Observe(Seconds(now_ns - live.first_token_ns));
  if (live.tokens > 1) {
    stats_.per_output_token_s.Observe(Seconds(now_ns - live.first_token_ns) /
                                      static_cast<double>(live.tokens - 1));
  }
  stats_.request_prompt_tokens.Observe(static_cast<double>(live.request.prompt_tokens));
  stats_.request_generation_tokens.Observe(static_cast<double>(live.tokens));
  ++stats_.finished[static_cast<size_t>(FinishReason::kLength)];
  live_.erase(id);
}

void Engine::DropUnwanted() {
  std::vector<uint64_t> gone;
  for (const auto& [id, live] : live_) {
    if (!live.listener->IsWanted()) gone.push_back(id);
  }
  for (const uint64_t id : gone) Abort(id);
}

}  // namespace tacho::simulate
