#include "analysis/prepared_trace.h"

#include <algorithm>

#include "analysis/evidence/unlaunched_work.h"
#include "base/parallel.h"

namespace tacho {
namespace {

// Marks steps with incomplete work: a call in the step lost its work, or the step may have launched
// work whose call is missing.
void ForgetIncompleteSteps(PreparedTrace& prepared) {
  std::vector<Step>& steps = prepared.steps.steps;
  if (!prepared.integrity.incomplete_calls.empty()) {
    const std::vector<uint32_t>& step_of = prepared.steps_of_calls;
    for (const uint32_t call : prepared.integrity.incomplete_calls) {
      if (step_of[call] != kNoStep) steps[step_of[call]].lost_work = true;
    }
  }
  for (const uint32_t step : StepsWithUnlaunchedWork(prepared.index, prepared.links, steps))
    steps[step].lost_work = true;
  const RecorderStops& stops = prepared.integrity.stops;
  const bool has_times = prepared.integrity.device_times();
  for (Step& step : steps) {
    if (!has_times || (stops.may_have_begun && step.when.start < *stops.may_have_begun) ||
        (stops.may_have_stopped && step.lasts.end > *stops.may_have_stopped))
      step.lost_work = true;
    if (!step.lost_work) continue;
    step.device_span.reset();
    step.device_busy.reset();
  }
}

}  // namespace

PreparedTrace Prepare(const Trace& trace, const Classifier& classifier, const Scope& scope,
                      size_t threads) {
  PreparedTrace prepared{TrackIndex(trace, threads), {}, {}, {}, {}, {}, {}};
  RunAll({[&] {
            prepared.work = CollectDeviceWork(prepared.index, classifier, scope);
            prepared.communication = CollectCommunication(trace, classifier);
          },
          [&] {
            prepared.links = LinkLaunches(trace);
            prepared.steps = FindSteps(prepared.index, prepared.links, scope);
          }},
         threads);
  prepared.integrity = FindIntegrity(prepared.index, prepared.links, prepared.work, scope, threads);
  prepared.steps_of_calls = StepsOfCalls(prepared.index, prepared.steps.steps);
  ForgetIncompleteSteps(prepared);
  return prepared;
}

bool KnowsIdleTime(const PreparedTrace& prepared, const Scope& scope) {
  DurationNs window, unrecorded;
  for (const DeviceItems& device : prepared.work.devices) {
    if (!scope.device.empty() && device.device != scope.device) continue;
    const Interval when = scope.window.value_or(device.extent);
    window += when.length();
    unrecorded += prepared.integrity.stops.outside(when);
  }
  return prepared.integrity.idle_time(window, unrecorded);
}

IdleTable IdleOf(const PreparedTrace& prepared, const Scope& scope, const InFlight* in_flight,
                 size_t max_gaps, const OnStretch& on_stretch) {
  if (KnowsIdleTime(prepared, scope))
    return AttributeIdle(prepared.index, prepared.work, prepared.links, scope, in_flight, max_gaps,
                         on_stretch,
                         {.common_clock = prepared.integrity.common_clock(),
                          .not_in = &prepared.integrity.lost_when});
  IdleTable unknown;
  unknown.known = false;
  for (const DeviceTime& device : DeviceTimesOf(prepared, scope)) {
    unknown.window += device.window.length();
    unknown.busy += device.busy;
  }
  return unknown;
}

std::vector<DeviceTime> DeviceTimesOf(const PreparedTrace& prepared, const Scope& scope) {
  if (!prepared.integrity.device_times()) return {};
  std::vector<DeviceTime> times = DecomposeDeviceTime(prepared.work, scope);
  if (!KnowsIdleTime(prepared, scope)) std::ranges::for_each(times, ForgetIdleTime);
  return times;
}

}  // namespace tacho
