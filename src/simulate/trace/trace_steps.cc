#include "simulate/trace/trace_steps.h"

#include <fmt/format.h>

#include <algorithm>

namespace tacho::simulate {

int64_t TracedStep::OperatorId(int32_t slice) const {
  if (slice < 0) return 0;
  const auto index = static_cast<size_t>(slice);
  return plan.host[index].kind == HostSlice::Kind::kOp ? external_ids[index] : 0;
}

std::string TracedStep::NameOf(const HostSlice& slice) const {
  if (slice.kind == HostSlice::Kind::kStep) return name;
  if (slice.kind != HostSlice::Kind::kDraft) return slice.name;
  const int64_t requests = step->load.generation.requests;
  return fmt::format("step[DRAFT_LOOP raw_bs={0} bs={0} topk=1]", requests);
}

namespace {

constexpr int64_t kShortestIdleNs = 150'000;
constexpr int64_t kRequestNs = 40'000;

bool Shows(const TraceSource& source, const HostSlice& slice, const std::string& step_name) {
  switch (slice.kind) {
    case HostSlice::Kind::kOp:
      return source.has_host;
    case HostSlice::Kind::kStep:
    case HostSlice::Kind::kDraft:
      return source.has_host && !step_name.empty();
    case HostSlice::Kind::kScope:
      return source.has_host && source.scopes && slice.name[0] != 0;
  }
  return false;
}

// One round of an idle SGLang scheduler: five ranges; 2,800 rounds per second.
RankPlan IdleLoop(Random& random) {
  RankPlan plan;
  int64_t now = 0;
  const auto range = [&](const char* name, int64_t low, int64_t high) {
    const int64_t dur = random.Between(low, high);
    plan.host.push_back({HostSlice::Kind::kScope, name, now, dur});
    now += dur + random.Between(8'000, 20'000);
  };
  range("scheduler.recv_requests", 30'000, 60'000);
  range("scheduler.process_input_requests", 9'000, 13'000);
  range("scheduler.get_next_batch_to_run", 17'000, 22'000);
  const int64_t idle = now;
  range("scheduler.idle", 90'000, 120'000);
  plan.host.push_back(
      {HostSlice::Kind::kScope, "scheduler.sanity_check_cache", idle + 14'000, 28'000});
  plan.end_ns = now;
  return plan;
}

class Tracer {
 public:
  Tracer(const TraceSource& source, const Recording& recording,
         const std::function<void(const TracedStep&)>& visit)
      : source_(source),
        visit_(visit),
        base_(KinetoBaseNs(source.OnClock(recording.start_ns))),
        start_(source.OnClock(recording.start_ns) - base_),
        end_(source.OnClock(recording.end_ns) - base_),
        external_id_(source.first_external_id),
        correlation_(source.first_correlation),
        idle_random_(Random::FromState(
            HashNumber(source.seed ^ static_cast<uint64_t>(recording.start_ns)))) {}

  void Run(const Recording& recording) {
    int64_t free = start_;  // since when the host has nothing to do
    for (size_t i = 0; i < recording.steps.size(); ++i) {
      const RecordedStep& step = recording.steps[i];
      TracedStep traced;
      traced.step = &step;
      traced.name = StepName(source_.names, step);
      traced.origin_ns = source_.OnClock(step.start_ns) - base_;
      const auto rank = static_cast<size_t>(source_.rank_in_step);
      int64_t duration_ns = 0;
      if (recording.plans.empty()) {
        StepPlan plan = PlanStep(source_.engine, source_.cost, step.load, source_.seed, step.index);
        duration_ns = plan.duration_ns;
        traced.plan = std::move(plan.ranks[rank]);
      } else {
        duration_ns = recording.plans[i].duration_ns;
        traced.plan = recording.plans[i].ranks[rank];
      }
      if (step.after_idle) {
        FillIdle(free, traced.origin_ns);
        HideResult(traced.plan);
      }
      free = traced.origin_ns + duration_ns;
      Visit(traced, step.finished ? end_ : CutOf(traced));
    }
    if (recording.ends_idle) free = FillIdle(free, end_);
    if (recording.ends_in_request) HandleRequest(std::max(free, end_ - kRequestNs));
  }

 private:
  // When an unfinished step is cut: at the start of its own annotation.
  int64_t CutOf(const TracedStep& traced) const {
    for (const HostSlice& slice : traced.plan.host) {
      if (slice.kind == HostSlice::Kind::kStep) {
        return std::min(end_, traced.origin_ns + slice.start_ns);
      }
    }
    return end_;
  }

  // SGLang handles a batch's result after it has launched the next batch, so right after the first
  // batch there is no result yet.
  static void HideResult(RankPlan& plan) {
    for (HostSlice& slice : plan.host) {
      if (std::string_view(slice.name) == "scheduler.process_batch_result") slice.name = "";
    }
  }

  // Fills idle time with rounds of the idle loop. Returns the time up to which it is filled.
  int64_t FillIdle(int64_t from, int64_t to) {
    if (source_.engine != SimulatedEngine::kSglang || !source_.scopes) return from;
    while (to - from > kShortestIdleNs) {
      TracedStep idle;
      idle.step = &no_step_;
      idle.origin_ns = from;
      idle.plan = IdleLoop(idle_random_);
      if (from + idle.plan.end_ns > to) break;
      from += idle.plan.end_ns;
      Visit(idle, end_);
    }
    return from;
  }

  // Adds the range in which the scheduler handles the request to stop. It is still open when the
  // window closes.
  void HandleRequest(int64_t from) {
    if (from >= end_) return;
    TracedStep handling;
    handling.step = &no_step_;
    handling.origin_ns = from;
    handling.plan.host.push_back(
        {HostSlice::Kind::kScope, "scheduler.process_input_requests", 0, end_ - from + kRequestNs});
    Visit(handling, end_);
  }

  // Assigns ids, and drops what is not completely inside the window that ends at `end`.
  void Visit(TracedStep& traced, int64_t end) {
    const auto begins = [&](const auto& event) {
      return traced.origin_ns + event.start_ns >= start_ && traced.origin_ns + event.start_ns < end;
    };
    const auto inside = [&](const auto& event) {
      return begins(event) && traced.origin_ns + event.start_ns + event.dur_ns <= end;
    };
    for (HostSlice& slice : traced.plan.host) {
      const bool shows = begins(slice) && Shows(source_, slice, traced.name);
      const bool cut = shows && !inside(slice);
      if (cut) slice.dur_ns = end - traced.origin_ns - slice.start_ns;
      traced.external_ids.push_back(shows ? external_id_++ : 0);
      traced.unfinished.push_back(cut);
    }
    const auto recorded = [&](const auto& event) {
      return source_.has_device && inside(event) &&
             traced.origin_ns + event.start_ns + event.dur_ns <= end_ - source_.loss.stops_early_ns;
    };
    for (const HostCall& call : traced.plan.calls) {
      traced.correlations.push_back(correlation_++);
      traced.shows_call.push_back(recorded(call));
    }
    int32_t replay = -1;  // the graph launch to which the last graph node belongs
    for (DeviceSlice& slice : traced.plan.device) {
      const bool is_new_replay = slice.graph_node != 0 && slice.call != replay;
      if (is_new_replay) ++replays_;
      if (slice.graph_node != 0) replay = slice.call;
      const bool in_window = source_.has_device && inside(slice);
      const bool lost = in_window && (!recorded(slice) || IsLost(slice));
      traced.lost_device.push_back(lost);
      traced.shows_device.push_back(in_window && !lost);
      slice.start_ns += ClockError(traced.origin_ns + slice.start_ns);
    }
    visit_(traced);
  }

  // Whether the profiler loses this slice of the window. Call it exactly once per slice.
  bool IsLost(const DeviceSlice& slice) {
    if (first_ < source_.loss.first) {
      ++first_;
      return true;
    }
    const int64_t kept = source_.loss.replays_kept;
    return slice.graph_node != 0 && kept > 0 && replays_ % kept != 0;
  }

  // How wrong the device's clock is at time `at` of the trace.
  [[nodiscard]] int64_t ClockError(int64_t at) const {
    const RecorderLoss& loss = source_.loss;
    return loss.skew_ns +
           static_cast<int64_t>(static_cast<double>(at - start_) * loss.drift_ppm / 1e6);
  }

  const TraceSource& source_;
  const std::function<void(const TracedStep&)>& visit_;
  const RecordedStep no_step_;
  int64_t base_, start_, end_;
  int64_t external_id_, correlation_;
  Random idle_random_;
  int64_t first_ = 0, replays_ = -1;  // slices lost at the start; graph replays so far, less one
};

}  // namespace

void EachTracedStep(const TraceSource& source, const Recording& recording,
                    const std::function<void(const TracedStep&)>& visit) {
  Tracer(source, recording, visit).Run(recording);
}

}  // namespace tacho::simulate
