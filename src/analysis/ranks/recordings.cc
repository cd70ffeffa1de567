#include "analysis/ranks/recordings.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/ranks/sessions.h"

namespace tacho {
namespace {

// The number of ns to add to a trace's times to get Unix time; nullopt if unknown.
std::optional<int64_t> UnixBase(const RankInput& trace) {
  if (trace.base_time_ns) return trace.base_time_ns;
  return IsUnixTime(trace.span.start) ? std::optional<int64_t>(0) : std::nullopt;
}

Interval Shifted(Interval when, int64_t base) {
  return {{AddSaturated(when.start.ns, base)}, {AddSaturated(when.end.ns, base)}};
}

// The time from the first start to the last end of device work, on the file's own clock; nullopt
// without device work.
std::optional<Interval> WorkWindow(const RankInput& trace) {
  std::optional<Interval> work;
  for (const DeviceTime& device : *trace.devices) {
    if (device.window.empty()) continue;
    if (!work) work = device.window;
    work->start = std::min(work->start, device.window.start);
    work->end = std::max(work->end, device.window.end);
  }
  return work;
}

bool HaveTheSameDevices(const RankInput& a, const RankInput& b) {
  return std::ranges::equal(*a.devices, *b.devices, {}, &DeviceTime::device, &DeviceTime::device);
}

bool ShareAProcess(const TraceFacts& a, const TraceFacts& b) {
  return a.pids.empty() || b.pids.empty() ||
         std::ranges::find_first_of(a.pids, b.pids) != a.pids.end();
}

// Whether the paths name two different sessions. Then an equal trace id proves nothing, because
// some producers reuse it.
bool NameTwoSessions(std::string_view a, std::string_view b) {
  const std::string a_key = SessionKey(a), b_key = SessionKey(b);
  return !a_key.empty() && !b_key.empty() && a_key != b_key;
}

// Groups the slices of each recording; any other trace is a group of its own. Groups are in the
// order of their first file.
std::vector<std::vector<size_t>> GroupSlices(const std::vector<RankInput>& workers) {
  std::vector<std::vector<size_t>> sets;
  std::map<std::string_view, std::vector<size_t>> by_id;  // indexes into sets
  for (size_t i = 0; i < workers.size(); ++i) {
    std::vector<size_t>& same_id = by_id[workers[i].trace_id];
    const auto at = std::ranges::find_if(
        same_id, [&](size_t set) { return AreSlices(workers[sets[set].front()], workers[i]); });
    if (at != same_id.end()) {
      sets[*at].push_back(i);
    } else {
      if (!workers[i].trace_id.empty()) same_id.push_back(sets.size());
      sets.push_back({i});
    }
  }
  return sets;
}

}  // namespace

std::optional<Interval> UnixTimeOf(const RankInput& trace) {
  const auto base = UnixBase(trace);
  if (!base || trace.span.empty()) return std::nullopt;
  return Shifted(trace.span, *base);
}

bool IsUnixTime(TimeNs t) { return t.ns >= 1'000'000'000 * kNsPerSecond; }

std::vector<std::optional<Interval>> RecordedTimes(const std::vector<RankInput>& traces) {
  std::set<int64_t> bases;
  for (const RankInput& trace : traces) {
    if (trace.base_time_ns) bases.insert(*trace.base_time_ns);
  }
  const int64_t usual = bases.size() == 1 ? *bases.begin() : 0;
  std::vector<std::optional<Interval>> times;
  for (const RankInput& trace : traces) {
    times.push_back(trace.span.empty()
                        ? std::nullopt
                        : std::optional(Shifted(trace.span, UnixBase(trace).value_or(usual))));
  }
  return times;
}

bool AreSlices(const RankInput& a, const RankInput& b) {
  return !a.trace_id.empty() && a.trace_id == b.trace_id && a.facts->rank &&
         a.facts->rank == b.facts->rank &&
         a.facts->identity.RankName() == b.facts->identity.RankName() &&
         a.facts->world_size == b.facts->world_size && a.base_time_ns == b.base_time_ns &&
         HaveTheSameDevices(a, b) && ShareAProcess(*a.facts, *b.facts) &&
         !NameTwoSessions(a.path, b.path);
}

std::vector<std::vector<size_t>> OverlappingSlices(const std::vector<RankInput>& workers) {
  std::vector<std::vector<size_t>> overlapping;
  for (const std::vector<size_t>& slices : GroupSlices(workers)) {
    std::vector<std::pair<Interval, size_t>> windows;
    for (const size_t i : slices) {
      if (const auto window = WorkWindow(workers[i])) windows.emplace_back(*window, i);
    }
    std::ranges::sort(windows, {},
                      [](const auto& w) { return std::pair(w.first.start, w.second); });
    std::vector<size_t> together;
    TimeNs reach;
    for (const auto& [window, i] : windows) {
      if (!together.empty() && window.start >= reach) {
        if (together.size() > 1) overlapping.push_back(together);
        together.clear();
      }
      reach = together.empty() ? window.end : std::max(reach, window.end);
      together.push_back(i);
    }
    if (together.size() > 1) overlapping.push_back(together);
  }
  return overlapping;
}

std::vector<std::vector<size_t>> GroupByRank(const std::vector<RankInput>& workers) {
  // Key: worker, data-parallel engine, rank and process names.
  using Key = std::tuple<std::string, std::optional<int64_t>, int64_t, std::vector<std::string>>;
  std::map<Key, std::vector<std::vector<size_t>>> same;
  std::vector<std::vector<size_t>> groups;
  for (std::vector<size_t>& slices : GroupSlices(workers)) {
    const TraceFacts& facts = *workers[slices.front()].facts;
    if (facts.rank && slices.size() == 1) {
      const RankIdentity& identity = facts.identity;
      same[{identity.worker, identity.data_parallel, *facts.rank, facts.process_names}].push_back(
          std::move(slices));
    } else {
      groups.push_back(std::move(slices));
    }
  }
  for (auto& [key, files] : same) {
    std::set<std::string> stages;
    for (const std::vector<size_t>& file : files) {
      const std::string& stage = workers[file.front()].facts->stage;
      if (!stage.empty()) stages.insert(stage);
    }
    if (stages.size() == files.size()) {
      std::vector<size_t>& rank = groups.emplace_back();
      for (const std::vector<size_t>& file : files) rank.push_back(file.front());
    } else {
      groups.insert(groups.end(), files.begin(), files.end());
    }
  }
  return groups;
}

std::string HowRecorded(const std::vector<RankInput>& workers, const std::vector<size_t>& files) {
  std::vector<Interval> times;
  for (const size_t i : files) {
    if (const auto when = UnixTimeOf(workers[i])) times.push_back(*when);
  }
  if (times.size() < files.size()) return "";
  std::ranges::sort(times, {}, &Interval::start);
  size_t at_once = 0;  // files that overlap another one
  TimeNs reach = times.front().end;
  size_t together = 1;
  for (size_t i = 1; i <= times.size(); ++i) {
    if (i < times.size() && times[i].start < reach) {
      reach = std::max(reach, times[i].end);
      ++together;
      continue;
    }
    if (together > 1) at_once += together;
    together = 1;
    if (i < times.size()) reach = times[i].end;
  }
  if (at_once == 0) return "recorded one after the other, ";
  if (at_once == files.size()) return "replicas or data-parallel engines, ";
  return std::to_string(at_once) +
         " of them at once (replicas or data-parallel engines), the rest one after the other, ";
}

std::vector<std::vector<size_t>> RecordingsOf(const std::vector<RankInput>& workers,
                                              const std::vector<std::vector<size_t>>& groups) {
  struct Span {
    int64_t world_size;
    std::string_view gpus;
    std::optional<Interval> when;
    size_t group;
    [[nodiscard]] auto kind() const { return std::pair(world_size, gpus); }
  };
  const std::vector<std::optional<Interval>> times = RecordedTimes(workers);
  std::vector<Span> spans;
  for (size_t group = 0; group < groups.size(); ++group) {
    Span span{-1, workers[groups[group].front()].gpus, std::nullopt, group};
    for (const size_t i : groups[group]) {
      span.world_size = std::max(span.world_size, workers[i].facts->world_size.value_or(-1));
      if (!times[i]) continue;
      if (!span.when) span.when = times[i];
      span.when->start = std::min(span.when->start, times[i]->start);
      span.when->end = std::max(span.when->end, times[i]->end);
    }
    spans.push_back(span);
  }
  std::ranges::sort(spans, {}, [](const Span& span) {
    return std::tuple(span.kind(), span.when.has_value(), span.when.value_or(Interval{}).start,
                      span.group);
  });
  std::vector<std::vector<size_t>> recordings;
  TimeNs reach;
  for (size_t i = 0; i < spans.size(); ++i) {
    const Span& span = spans[i];
    const bool joins = i > 0 && spans[i - 1].kind() == span.kind() &&
                       spans[i - 1].when.has_value() == span.when.has_value() &&
                       (!span.when || span.when->start < reach);
    if (!joins) recordings.emplace_back();
    const TimeNs end = span.when.value_or(Interval{}).end;
    reach = joins ? std::max(reach, end) : end;
    recordings.back().push_back(span.group);
  }
  return recordings;
}

}  // namespace tacho
