#include "analysis/prepared_trace.h"

#include <algorithm>

#include "base/parallel.h"

namespace tacho {
namespace {

// Whether the rows of the devices of a scope say when they were idle.
bool KnowsIdleTime(const PreparedTrace& prepared, const Scope& scope) {
  DurationNs window;
  for (const DeviceItems& device : prepared.work.devices) {
    if (scope.device.empty() || device.device == scope.device)
      window += scope.window.value_or(device.extent).length();
  }
  return prepared.integrity.idle_time(window);
}

// What a step launched while the recording lost work is not all that it did.
void ForgetIncompleteSteps(const Trace& trace, const std::vector<uint32_t>& incomplete_calls,
                           std::vector<Step>& steps) {
  const StepFinder finder(steps);
  for (const uint32_t call : incomplete_calls) {
    const auto step = finder.At(trace.host_calls.start[call]);
    if (!step) continue;
    steps[*step].lost_work = true;
    steps[*step].device_span.reset();
    steps[*step].device_busy.reset();
  }
}

}  // namespace

PreparedTrace Prepare(const Trace& trace, const Classifier& classifier, const Scope& scope,
                      size_t threads) {
  PreparedTrace prepared{TrackIndex(trace, threads), {}, {}, {}, {}};
  RunAll({[&] { prepared.work = CollectDeviceWork(prepared.index, classifier, scope); },
          [&] {
            prepared.links = LinkLaunches(trace);
            prepared.steps = FindSteps(prepared.index, prepared.links, scope);
          }},
         threads);
  prepared.integrity = FindIntegrity(prepared.index, prepared.links, prepared.work, scope, threads);
  ForgetIncompleteSteps(trace, prepared.integrity.incomplete_calls, prepared.steps.steps);
  return prepared;
}

IdleTable IdleOf(const PreparedTrace& prepared, const Scope& scope, const InFlight* in_flight,
                 size_t max_gaps, const OnStretch& on_stretch) {
  if (KnowsIdleTime(prepared, scope))
    return AttributeIdle(prepared.index, prepared.work, prepared.links, scope, in_flight, max_gaps,
                         on_stretch, prepared.integrity.common_clock());
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
