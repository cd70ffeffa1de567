#include "analysis/evidence/lost_work.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analysis/evidence/partial_graphs.h"
#include "analysis/evidence/rowless_calls.h"
#include "analysis/index/name_index.h"

namespace tacho {
namespace {

// Removes the graphs that still ran when the recording ended, and returns their calls. It is
// natural that such graphs lack their last nodes.
std::vector<uint32_t> TakeTheLast(const Trace& trace, const LaunchLinks& links, TimeNs end,
                                  std::vector<PartialGraph>& graphs) {
  if (graphs.empty()) return {};
  TimeNs last_launch = trace.span.start;
  DurationNs longest;
  std::map<uint32_t, TimeNs> ends;  // by call of a partial graph: the end of its work
  for (const PartialGraph& graph : graphs) ends.emplace(graph.call, trace.span.start);
  for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
    const uint32_t call = links.call_of_gpu[row];
    longest = std::max(longest, DurationNs{trace.gpu.duration[row]});
    if (call == LaunchLinks::kNone) continue;
    last_launch = std::max(last_launch, trace.host_calls.start[call]);
    if (const auto at = ends.find(call); at != ends.end())
      at->second = std::max(at->second, trace.gpu.When(row).end);
  }
  std::vector<uint32_t> taken;
  std::erase_if(graphs, [&](const PartialGraph& graph) {
    if (trace.host_calls.start[graph.call] < last_launch || end - ends.at(graph.call) > longest)
      return false;
    taken.push_back(graph.call);
    return true;
  });
  return taken;
}

DurationNs WithoutComputation(const IntervalSet& doubtful, const DeviceWork& work,
                              const Scope& scope) {
  DurationNs sum;
  if (doubtful.empty()) return sum;
  const Interval all{doubtful.intervals().front().start, doubtful.intervals().back().end};
  for (const DeviceItems& device : work.devices) {
    const Interval window = scope.window.value_or(device.extent).Clip(all);
    TimeNs reach = window.start;
    for (const WorkItem& item : device.items) {
      if (item.when.end <= reach) continue;
      if (reach >= window.end) break;
      if (item.kind != WorkKind::kCompute && item.kind != WorkKind::kMemset) continue;
      if (item.when.start > reach)
        sum += doubtful.Covered({reach, std::min(item.when.start, window.end)});
      reach = item.when.end;
    }
    if (window.end > reach) sum += doubtful.Covered({reach, window.end});
  }
  return sum;
}

class Losses {
 public:
  // `calls`: the judged calls, sorted by start. `incomplete`: those of them that lost work, in the
  // same order.
  Losses(const Trace& trace, const LaunchLinks& links, const std::vector<uint32_t>& calls,
         const std::vector<uint32_t>& incomplete)
      : trace_(trace), links_(links), calls_(calls), incomplete_(incomplete) {}

  void TabulateApis(LostWork& lost) const {
    NameIndex names(trace_);
    std::vector<LostWork::Api> apis;
    const auto api_of = [&](uint32_t call) -> LostWork::Api& {
      const StringId name = trace_.host_calls.name[call];
      const uint32_t number = names[name];
      if (number == apis.size()) apis.push_back({.name = std::string(trace_.Text(name))});
      return apis[number];
    };
    for (const uint32_t call : calls_) ++api_of(call).calls;
    for (const uint32_t call : incomplete_) ++api_of(call).lost;
    std::erase_if(apis, [](const LostWork::Api& api) { return api.lost == 0; });
    std::ranges::sort(apis, [](const LostWork::Api& a, const LostWork::Api& b) {
      return a.lost != b.lost ? a.lost > b.lost : a.name < b.name;
    });
    lost.apis = std::move(apis);
  }

  void FindPattern(LostWork& lost) const {
    const size_t all = calls_.size(), gone = incomplete_.size();
    size_t at_start = 0, at_end = 0;
    while (at_start < gone && incomplete_[at_start] == calls_[at_start]) ++at_start;
    while (at_end < gone - at_start && incomplete_[gone - 1 - at_end] == calls_[all - 1 - at_end])
      ++at_end;
    if (gone == all) {
      lost.pattern = LossPattern::kSpread;
    } else if (at_start + at_end == gone) {
      lost.pattern = at_end == 0     ? LossPattern::kStart
                     : at_start == 0 ? LossPattern::kEnd
                                     : LossPattern::kStartAndEnd;
    } else if (AreAllGraphs()) {
      lost.pattern = LossPattern::kAllGraphs;
    } else if (AreAllOfThreads()) {
      lost.pattern = LossPattern::kAllOfAThread;
    } else if (gone > 1 && FollowEachOther(at_start)) {
      lost.pattern = LossPattern::kInARow;
    } else if (const uint64_t n = OneIn(lost); n > 1) {
      lost.pattern = LossPattern::kAllButOneIn;
      lost.one_in = n;
    } else {
      lost.pattern = LossPattern::kSpread;
    }
  }

 private:
  [[nodiscard]] bool IsIncomplete(uint32_t call) const {
    return std::ranges::binary_search(sorted_, call);
  }
  [[nodiscard]] bool AreAllGraphs() const {
    return std::ranges::all_of(calls_, [&](uint32_t call) {
      return IsGraphLaunch(trace_.Text(trace_.host_calls.name[call])) ==
             !links_.first.LaunchedWork(call);
    });
  }
  [[nodiscard]] bool AreAllOfThreads() const {
    std::set<TrackId> with, without;
    for (const uint32_t call : calls_)
      (links_.first.LaunchedWork(call) ? with : without).insert(trace_.host_calls.track[call]);
    return std::ranges::none_of(without, [&](TrackId track) { return with.contains(track); });
  }
  // Whether the incomplete calls follow each other without a gap in the middle of the recording.
  // `at_start`: how many of them are the first calls of the recording.
  [[nodiscard]] bool FollowEachOther(size_t at_start) const {
    if (at_start > 0) return false;
    const auto first = std::ranges::find(calls_, incomplete_.front());
    return std::mismatch(first, calls_.end(), incomplete_.begin(), incomplete_.end()).second ==
           incomplete_.end();
  }
  // n if only one API lost work and every n-th of its calls still has its work; else 0.
  [[nodiscard]] uint64_t OneIn(const LostWork& lost) const {
    if (lost.apis.size() != 1) return 0;
    std::vector<size_t> there;
    size_t number = 0;
    for (const uint32_t call : calls_) {
      if (trace_.Text(trace_.host_calls.name[call]) != lost.apis.front().name) continue;
      if (!IsIncomplete(call)) there.push_back(number);
      ++number;
    }
    if (there.size() < 3) return 0;
    const size_t n = there[1] - there[0];
    for (size_t i = 2; i < there.size(); ++i) {
      if (there[i] - there[i - 1] != n) return 0;
    }
    return n;
  }

  const Trace& trace_;
  const LaunchLinks& links_;
  const std::vector<uint32_t>& calls_;
  const std::vector<uint32_t>& incomplete_;
  std::vector<uint32_t> sorted_ = [this] {
    std::vector<uint32_t> sorted = incomplete_;
    std::ranges::sort(sorted);
    return sorted;
  }();
};

}  // namespace

std::string_view LossPatternId(LossPattern pattern) {
  static constexpr std::array<std::string_view, 9> kIds{
      "none",           "start",    "end",   "start-and-end", "all-graphs", "all-of-a-thread",
      "all-but-one-in", "in-a-row", "spread"};
  return kIds[static_cast<size_t>(pattern)];
}

FoundLosses FindLostWork(const TrackIndex& index, const LaunchLinks& links, const DeviceWork& work,
                         const Scope& scope, const ClocksBound& clocks) {
  const Trace& trace = index.trace();
  FoundLosses found;
  LostWork& lost = found.lost;
  if (work.on_host || trace.gpu.size() == 0) return found;
  RowlessCalls rowless = FindRowlessCalls(index, links);
  std::optional<WorkByLikeness> works;
  if (!rowless.lost.empty()) TakeCutOff(trace, works.emplace(index, links, false), rowless);
  std::vector<PartialGraph> graphs = FindPartialGraphs(trace, links, rowless.judged);
  std::vector<uint32_t>& incomplete_calls = found.incomplete_calls;
  incomplete_calls = TakeTheLast(trace, links, EndOfRecording(trace), graphs);
  const auto add = [&](const std::vector<uint32_t>& calls) {
    incomplete_calls.insert(incomplete_calls.end(), calls.begin(), calls.end());
  };
  add(rowless.cut_off);
  lost.calls = rowless.judged.size();
  lost.lost_calls = lost.lost_events = rowless.lost.size();
  lost.captured = rowless.captured;
  lost.failed = rowless.failed;
  lost.cut_off = rowless.cut_off.size();
  lost.partial_graphs = graphs.size();
  for (const PartialGraph& graph : graphs) lost.lost_events += graph.missing;
  std::vector<uint32_t>& incomplete = rowless.lost;
  for (const PartialGraph& graph : graphs) incomplete.push_back(graph.call);
  const auto by_start = [&](uint32_t a, uint32_t b) {
    const TimeNs x = trace.host_calls.start[a], y = trace.host_calls.start[b];
    return x != y ? x < y : a < b;
  };
  std::ranges::sort(incomplete, by_start);
  if (lost.any()) {
    lost.first = trace.host_calls.start[incomplete.front()];
    const Losses losses(trace, links, rowless.judged, incomplete);
    losses.TabulateApis(lost);
    losses.FindPattern(lost);
  }
  add(incomplete);
  incomplete.insert(incomplete.end(), rowless.cut_off.begin(), rowless.cut_off.end());
  std::ranges::sort(incomplete, by_start);
  if (!incomplete.empty()) {
    // If no work is lost, but only cut off, do not match calls by operator. That would limit how
    // long the missing work may have run, but cut-off work may have run until the end of the
    // recording.
    if (!works || lost.any()) works.emplace(index, links, lost.any());
    found.when = DoubtfulTime(index, links, incomplete, *works, clocks);
    lost.in_doubt = WithoutComputation(found.when, work, scope);
  }
  std::ranges::sort(incomplete_calls);
  return found;
}

}  // namespace tacho
