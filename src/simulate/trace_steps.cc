#include "simulate/trace_steps.h"

#include <algorithm>

namespace tacho::simulate {

int64_t TracedStep::OperatorId(int32_t slice) const {
  if (slice < 0) return 0;
  const auto index = static_cast<size_t>(slice);
  return plan.host[index].kind == HostSlice::Kind::kOp ? external_ids[index] : 0;
}

namespace {

bool Shows(const TraceSource& source, const HostSlice& slice, const std::string& step_name) {
  switch (slice.kind) {
    case HostSlice::Kind::kOp:
      return true;
    case HostSlice::Kind::kStep:
      return !step_name.empty();
    case HostSlice::Kind::kScope:
      return source.scopes;
  }
  return false;
}

}  // namespace

void EachTracedStep(const TraceSource& source, const Recording& recording,
                    const std::function<void(const TracedStep&)>& visit) {
  const int64_t base = KinetoBaseNs(source.OnClock(recording.start_ns));
  const int64_t window_start = source.OnClock(recording.start_ns) - base;
  const int64_t window_end = source.OnClock(recording.end_ns) - base;
  int64_t external_id = source.first_external_id;
  int64_t correlation = source.first_correlation;
  for (const RecordedStep& step : recording.steps) {
    TracedStep traced;
    traced.step = &step;
    traced.name = StepName(source.names, step);
    traced.origin_ns = source.OnClock(step.start_ns) - base;
    StepPlan plan = PlanStep(source.engine, source.cost, step.load, source.seed, step.index);
    traced.plan = std::move(plan.ranks[static_cast<size_t>(source.rank_in_step)]);
    const auto begins = [&](const auto& event) {
      return traced.origin_ns + event.start_ns >= window_start &&
             traced.origin_ns + event.start_ns < window_end;
    };
    const auto inside = [&](const auto& event) {
      return begins(event) && traced.origin_ns + event.start_ns + event.dur_ns <= window_end;
    };
    for (HostSlice& slice : traced.plan.host) {
      const bool shows = begins(slice) && Shows(source, slice, traced.name);
      const bool cut = shows && !inside(slice);
      if (cut) slice.dur_ns = window_end - traced.origin_ns - slice.start_ns;
      traced.external_ids.push_back(shows ? external_id++ : 0);
      traced.unfinished.push_back(cut);
    }
    for (const HostCall& call : traced.plan.calls) {
      traced.correlations.push_back(correlation++);
      traced.shows_call.push_back(inside(call));
    }
    for (const DeviceSlice& slice : traced.plan.device) {
      traced.shows_device.push_back(inside(slice));
    }
    visit(traced);
  }
}

}  // namespace tacho::simulate
