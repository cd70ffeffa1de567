#include "analysis/device/earlier_work.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/device/stream_waits.h"
#include "base/interval_set.h"

namespace tacho {
namespace {

// The longest time that a launch takes; the same limit as in idle.cc.
constexpr DurationNs kLongestLatency{1'000'000};

// When the first call that records an event on a stream starts.
std::optional<TimeNs> FirstEventRecord(const Trace& trace) {
  std::optional<TimeNs> first;
  const HostCallTable& calls = trace.host_calls;
  for (uint32_t row = 0; row < calls.size(); ++row) {
    if (trace.Text(calls.name[row]).find("EventRecord") == std::string_view::npos) continue;
    const TimeNs start = calls.When(row).start;
    first = std::min(first.value_or(start), start);
  }
  return first;
}

// The first work of each stream in the trace: a row of Trace::gpu, or LaunchLinks::kNone.
std::vector<uint32_t> FirstOfStreams(const Trace& trace) {
  std::vector<uint32_t> first(trace.words.streams().size(), LaunchLinks::kNone);
  for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
    uint32_t& of_stream = first[Index(trace.gpu.stream[row])];
    if (of_stream == LaunchLinks::kNone || trace.gpu.start[row] < trace.gpu.start[of_stream]) {
      of_stream = row;
    }
  }
  return first;
}

}  // namespace

DurationNs MayBeBusyWithEarlierWork(const TrackIndex& index, const LaunchLinks& links,
                                    const Scope& scope) {
  const Trace& trace = index.trace();
  const auto device_of = [&](uint32_t row) {
    return trace.Text(trace.words.streams()[Index(trace.gpu.stream[row])].device);
  };
  std::map<std::string_view, std::vector<Interval>> waits;  // keyed by device
  std::optional<std::vector<bool>> behind_wait;
  for (const uint32_t row : FirstOfStreams(trace)) {
    if (row == LaunchLinks::kNone || links.call_of_gpu[row] == LaunchLinks::kNone) continue;
    if (!scope.device.empty() && scope.device != device_of(row)) continue;
    const uint32_t call = links.call_of_gpu[row];
    const Interval launch = trace.host_calls.When(call);
    const Interval wait{launch.end, trace.gpu.When(row).start};
    if (wait.length() <= kLongestLatency || 2 * wait.length().ns < (wait.end - trace.span.start).ns)
      continue;
    if (!behind_wait) behind_wait = CallsBehindWaits(index, links);
    if (!behind_wait->empty() && (*behind_wait)[call]) {
      const std::optional<TimeNs> recorded = FirstEventRecord(trace);
      if (recorded && *recorded < launch.start) continue;
    }
    waits[device_of(row)].push_back(scope.Clip(wait));
  }
  if (waits.empty()) return {};
  std::map<std::string_view, std::vector<Interval>> busy;
  for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
    const auto device = waits.find(device_of(row));
    if (device != waits.end()) busy[device->first].push_back(trace.gpu.When(row));
  }
  DurationNs unseen;
  for (auto& [device, intervals] : waits) {
    const IntervalSet idle =
        IntervalSet(std::move(intervals)).Without(IntervalSet(std::move(busy[device])));
    for (const Interval& part : idle.intervals()) unseen += part.length();
  }
  return unseen;
}

}  // namespace tacho
