#include "analysis/evidence/rowless_calls.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "analysis/evidence/waiting_calls.h"
#include "analysis/evidence/work_alike.h"
#include "analysis/index/arg_reader.h"
#include "analysis/index/of_each_call.h"
#include "base/interval_set.h"
#include "base/words.h"

namespace tacho {
namespace {

constexpr size_t kFewestCalls = 3;

enum class CallKind : uint8_t { kOther, kJudged, kMemset, kBeginCapture, kEndCapture };

CallKind KindOfCall(std::string_view name) {
  if (name.find("BeginCapture") != std::string_view::npos) return CallKind::kBeginCapture;
  if (name.find("EndCapture") != std::string_view::npos) return CallKind::kEndCapture;
  const std::string lower = AsciiLowered(name);
  const auto has = [&](std::string_view word) { return lower.find(word) != std::string::npos; };
  // A host function runs on the host. Calls that build or edit a graph, such as
  // cudaGraphAddMemcpyNode, run nothing.
  if (has("hostfunc") || (has("graph") && !has("graphlaunch"))) return CallKind::kOther;
  return has("memset") ? CallKind::kMemset : CallKind::kJudged;
}

// By host call: whether it lies inside another call of its thread that has GPU rows, or contains
// such a call. A runtime call that enters the driver is recorded as two calls, and only one of them
// has the rows.
std::vector<uint8_t> SharingRows(const TrackIndex& index, const LaunchLinks& links) {
  const HostCallTable& calls = index.trace().host_calls;
  std::vector<uint8_t> shares(calls.size());
  for (size_t track = 0; track < index.host_calls().lanes(); ++track) {
    const RowList rows = index.host_calls().Of(track);  // outer calls first
    // Forward: the latest end of the earlier calls with rows. Backward (`next`): the nearest later
    // call with rows, which may lie within the current call.
    std::optional<TimeNs> reach;
    for (size_t i = 0; i < rows.size(); ++i) {
      const Interval when = calls.When(rows[i]);
      if (reach && when.end <= *reach) shares[rows[i]] = 1;
      if (links.first.LaunchedWork(rows[i])) reach = std::max(reach.value_or(when.end), when.end);
    }
    std::optional<Interval> next;  // the next call with rows
    for (size_t i = rows.size(); i-- > 0;) {
      const Interval when = calls.When(rows[i]);
      if (next && next->start < when.end && next->end <= when.end) shares[rows[i]] = 1;
      if (links.first.LaunchedWork(rows[i])) next = when;
    }
  }
  return shares;
}

// When each process captured a stream: from the call that begins a capture to the one that ends it
// on the same thread. A capture may begin before the recording or end after it.
std::map<ProcessId, IntervalSet> Captures(const TrackIndex& index,
                                          const std::vector<CallKind>& kinds) {
  const Trace& trace = index.trace();
  const auto is_bound = [](CallKind kind) {
    return kind == CallKind::kBeginCapture || kind == CallKind::kEndCapture;
  };
  std::map<ProcessId, IntervalSet> captures;
  if (std::ranges::none_of(kinds, is_bound)) return captures;
  std::map<ProcessId, std::vector<Interval>> found;
  for (size_t track = 0; track < index.host_calls().lanes(); ++track) {
    std::vector<Interval>& of_process = found[trace.words.tracks()[track].process];
    const RowList rows = index.host_calls().Of(track);
    bool captures_now = false;
    TimeNs since = trace.span.start;  // if a capture ends that did not begin, it is taken from here
    for (size_t i = 0; i < rows.size(); ++i) {
      if (!is_bound(kinds[rows[i]])) continue;
      const Interval when = trace.host_calls.When(rows[i]);
      captures_now = kinds[rows[i]] == CallKind::kBeginCapture;
      if (!captures_now) of_process.push_back({since, when.end});
      since = captures_now ? when.start : when.end;
    }
    if (captures_now) of_process.push_back({since, trace.span.end});
  }
  for (auto& [process, intervals] : found)
    captures.emplace(process, IntervalSet(std::move(intervals)));
  return captures;
}

}  // namespace

TimeNs EndOfRecording(const Trace& trace) {
  TimeNs end = trace.span.start;
  for (const SliceTable* table : {static_cast<const SliceTable*>(&trace.host_calls),
                                  static_cast<const SliceTable*>(&trace.gpu)}) {
    for (size_t row = 0; row < table->size(); ++row) end = std::max(end, table->When(row).end);
  }
  return end;
}

RowlessCalls FindRowlessCalls(const TrackIndex& index, const LaunchLinks& links) {
  const Trace& trace = index.trace();
  const HostCallTable& calls = trace.host_calls;
  RowlessCalls found;
  if (std::ranges::all_of(links.call_of_gpu,
                          [](uint32_t call) { return call == LaunchLinks::kNone; }))
    return found;
  const std::vector<CallKind> kinds = OfEachCall(trace, KindOfCall);
  const ArgReader result(trace, "return value");
  const std::map<ProcessId, IntervalSet> captures = Captures(index, kinds);
  const auto is_captured = [&](uint32_t call) {
    const auto of = captures.find(trace.words.tracks()[Index(calls.track[call])].process);
    return of != captures.end() &&
           of->second.Touches({calls.start[call], calls.start[call] + DurationNs{1}});
  };
  for (uint32_t call = 0; call < calls.size(); ++call) {
    const bool is_memset = kinds[call] == CallKind::kMemset;
    if (links.puts_work[call] == 0 || (kinds[call] != CallKind::kJudged && !is_memset)) continue;
    // A memset of 0 bytes has no row, so a memset without a row proves nothing.
    if (is_memset && !links.first.LaunchedWork(call)) continue;
    found.judged.push_back(call);
    if (links.first.LaunchedWork(call)) continue;
    if (is_captured(call)) {
      ++found.captured;
    } else if (result.Integer({.ref = calls.args[call], .correlation = calls.correlation[call]})
                   .value_or(0) != 0) {
      ++found.failed;
    } else {
      found.lost.push_back(call);
      continue;
    }
    found.judged.pop_back();
  }
  const auto by_start = [&](uint32_t a, uint32_t b) {
    return calls.start[a] != calls.start[b] ? calls.start[a] < calls.start[b] : a < b;
  };
  for (std::vector<uint32_t>* rows : {&found.judged, &found.lost}) {
    if (!std::ranges::is_sorted(*rows, by_start)) std::ranges::sort(*rows, by_start);
  }
  if (!found.lost.empty()) {
    const std::vector<uint8_t> shares = SharingRows(index, links);
    const auto is_shared = [&](uint32_t call) {
      return !links.first.LaunchedWork(call) && shares[call] != 0;
    };
    std::erase_if(found.judged, is_shared);
    std::erase_if(found.lost, is_shared);
  }
  // Too few calls to know whether such calls have rows.
  if (found.judged.size() < kFewestCalls) found.lost.clear();
  return found;
}

void TakeCutOff(const Trace& trace, const WorkByLikeness& works, RowlessCalls& found) {
  const HostCallTable& calls = trace.host_calls;
  const TimeNs end = EndOfRecording(trace), waited = FindFinishedWork(trace).before;
  const auto is_cut_off = [&](uint32_t call) {
    const TimeNs called = calls.When(call).end;
    // The work may have run on any of these streams, so one of them is enough.
    return called > waited &&
           std::ranges::any_of(works.OfOrAll(call).streams, [&](StreamId stream) {
             const StreamTurns& of = works.OfStream(stream);
             return of.called < calls.start[call] &&
                    end - std::max(of.over, called) <= works.LongestTurnOf(stream);
           });
  };
  std::vector<uint32_t> older, cut_off;
  for (const uint32_t call : found.lost) (is_cut_off(call) ? cut_off : older).push_back(call);
  // Calls count as cut off only if all other lost calls are the first ones of the recording. If
  // calls in the middle are lost, the last ones may be lost for the same reason.
  if (cut_off.empty() || older.size() + cut_off.size() == found.judged.size() ||
      !std::ranges::equal(older, std::span(found.judged).first(older.size())))
    return;
  found.lost = std::move(older);
  found.cut_off = std::move(cut_off);
  const std::set<uint32_t> gone(found.cut_off.begin(), found.cut_off.end());
  std::erase_if(found.judged, [&](uint32_t call) { return gone.contains(call); });
}

}  // namespace tacho
