#include "analysis/evidence/device_clock.h"

#include <algorithm>
#include <array>
#include <map>
#include <queue>
#include <string_view>
#include <unordered_map>

#include "analysis/evidence/waiting_calls.h"
#include "analysis/index/gpu_scope.h"
#include "analysis/index/of_each_call.h"

namespace tacho {
namespace {

// The devices of a trace, numbered, and the number of each stream's device.
struct Devices {
  explicit Devices(const Trace& trace) {
    std::unordered_map<StringId, uint32_t> numbers;
    for (const Stream& stream : trace.words.streams()) {
      const auto [at, added] =
          numbers.try_emplace(stream.device, static_cast<uint32_t>(names.size()));
      if (added) names.emplace_back(trace.Text(stream.device));
      of_stream.push_back(at->second);
    }
  }
  std::vector<std::string> names;
  std::vector<uint32_t> of_stream;
};

// Bounds the clock of one device by the starts of launch calls: work cannot start before its
// launch.
void BoundByLaunches(const Trace& trace, const LaunchLinks& links, const Devices& devices,
                     std::vector<DeviceClock>& clocks) {
  const DurationNs tenth{trace.span.length().ns / 10};
  const auto take = [](std::optional<DurationNs>& into, DurationNs least) {
    into = std::max(into.value_or(least), least);
  };
  links.first.ForEach([&](uint32_t call, uint32_t piece) {
    DeviceClock& clock = clocks[devices.of_stream[Index(trace.gpu.stream[piece])]];
    const TimeNs start = trace.host_calls.start[call];
    const DurationNs least = start - trace.gpu.start[piece];
    ++clock.launched;
    if (least > kClockTolerance) ++clock.before_launch;
    take(clock.least, least);
    if (start < trace.span.start + tenth) take(clock.least_at_start, least);
    if (start >= trace.span.end - tenth) take(clock.least_at_end, least);
  });
}

// One piece of launched work, in a list that is sorted by `called`.
struct Launched {
  TimeNs called;  // the end of the launch call
  TimeNs over;    // the latest end of this piece and all earlier ones of the list
};

std::vector<Launched> WorkInOrder(const Trace& trace, const LaunchLinks& links,
                                  const Devices& devices, uint32_t device) {
  std::vector<Launched> launched;
  for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
    const uint32_t call = links.call_of_gpu[row];
    if (call == LaunchLinks::kNone || devices.of_stream[Index(trace.gpu.stream[row])] != device)
      continue;
    launched.push_back({trace.host_calls.When(call).end, trace.gpu.When(row).end});
  }
  if (!std::ranges::is_sorted(launched, {}, &Launched::called))
    std::ranges::sort(launched, {}, &Launched::called);
  for (size_t i = 1; i < launched.size(); ++i)
    launched[i].over = std::max(launched[i].over, launched[i - 1].over);
  return launched;
}

// Bounds the clock of one device by the returns of waiting calls.
void BoundByWaits(const Trace& trace, const std::vector<Waits>& waits,
                  const std::vector<Launched>& launched, bool one_stream, DeviceClock& clock) {
  const HostCallTable& calls = trace.host_calls;
  const auto take = [&](DurationNs most) {
    ++clock.waited;
    if (most < -kClockTolerance) ++clock.after_wait;
    clock.most = std::min(clock.most.value_or(most), most);
  };
  // Calls that wait for a stream: their start, and the bound that they give.
  std::vector<std::pair<TimeNs, DurationNs>> for_stream;
  for (uint32_t call = 0; call < calls.size(); ++call) {
    if (waits[call] == Waits::kNo) continue;
    const auto after = std::ranges::lower_bound(launched, calls.start[call], {}, &Launched::called);
    if (after == launched.begin()) continue;
    const DurationNs most = calls.When(call).end - (after - 1)->over;
    // The file does not say which stream the call waits for.
    if (waits[call] == Waits::kForDevice) {
      take(most);
    } else if (one_stream && calls.When(call).length() >= kWaitedForStream) {
      for_stream.emplace_back(calls.start[call], most);
    }
  }
  // A single call that returned too early is left out: it is taken to have waited for a stream
  // without work, and to have been slow for another reason.
  std::ranges::sort(for_stream);
  const auto is_early = [&](size_t i) {
    return i < for_stream.size() && for_stream[i].second < -kClockTolerance;
  };
  for (size_t i = 0; i < for_stream.size(); ++i) {
    if (!is_early(i) || is_early(i + 1) || (i > 0 && is_early(i - 1))) take(for_stream[i].second);
  }
}

void BoundByEnd(const Trace& trace, const Devices& devices, std::vector<DeviceClock>& clocks) {
  std::optional<TimeNs> end;
  for (size_t row = 0; row < trace.others.size(); ++row) {
    if (!trace.words[trace.others.category[row]].is_window) continue;
    end = std::max(end.value_or(trace.others.When(row).end), trace.others.When(row).end);
  }
  if (!end) return;
  for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
    DeviceClock& clock = clocks[devices.of_stream[Index(trace.gpu.stream[row])]];
    const DurationNs most = *end - trace.gpu.When(row).end;
    clock.most = std::min(clock.most.value_or(most), most);
  }
}

// Whether all launched work ran on one device, and was launched by one process. Only then do
// waiting calls give bounds, because the file does not say for which device, or for whose work, a
// call waits.
bool OneWaitsForOne(const Trace& trace, const LaunchLinks& links,
                    const std::vector<DeviceClock>& clocks) {
  if (std::ranges::count_if(clocks, [](const DeviceClock& c) { return c.launched > 0; }) != 1)
    return false;
  std::optional<ProcessId> process;
  bool one = true;
  links.first.ForEach([&](uint32_t call, uint32_t) {
    const ProcessId of_call = trace.words.tracks()[Index(trace.host_calls.track[call])].process;
    one = one && process.value_or(of_call) == of_call;
    process = of_call;
  });
  return one;
}

DeviceClock::State StateOf(const DeviceClock& clock) {
  const DurationNs least = clock.least.value_or(DurationNs{INT64_MIN / 4});
  const DurationNs most = clock.most.value_or(DurationNs{INT64_MAX / 4});
  if (least <= kClockTolerance && most >= -kClockTolerance) return DeviceClock::State::kRight;
  return least <= most + kClockTolerance ? DeviceClock::State::kOff : DeviceClock::State::kDrifts;
}

}  // namespace

std::string_view ClockStateId(DeviceClock::State state) {
  static constexpr std::array<std::string_view, 3> kIds{"right", "off", "drifts"};
  return kIds[static_cast<size_t>(state)];
}

std::vector<DeviceClock> CheckDeviceClocks(const TrackIndex& index, const LaunchLinks& links) {
  const Trace& trace = index.trace();
  const Devices devices(trace);
  std::vector<DeviceClock> clocks;
  for (const std::string& name : devices.names) clocks.emplace_back().device = name;
  BoundByLaunches(trace, links, devices, clocks);
  const std::vector<Waits> waits = OfEachCall(trace, WaitsFor);
  const bool any_waits = std::ranges::any_of(waits, [](Waits w) { return w != Waits::kNo; });
  std::vector<uint32_t> streams(clocks.size());
  for (size_t stream = 0; stream < index.gpu().lanes(); ++stream) {
    if (!index.gpu().Of(stream).empty()) ++streams[devices.of_stream[stream]];
  }
  if (any_waits && OneWaitsForOne(trace, links, clocks)) {
    for (uint32_t device = 0; device < clocks.size(); ++device) {
      if (clocks[device].launched == 0) continue;
      BoundByWaits(trace, waits, WorkInOrder(trace, links, devices, device), streams[device] == 1,
                   clocks[device]);
    }
  }
  BoundByEnd(trace, devices, clocks);
  for (DeviceClock& clock : clocks) clock.state = StateOf(clock);
  std::erase_if(clocks, [](const DeviceClock& clock) { return clock.launched == 0; });
  std::ranges::sort(clocks, [](const DeviceClock& a, const DeviceClock& b) {
    return IdLess(a.device, b.device);
  });
  return clocks;
}

}  // namespace tacho
