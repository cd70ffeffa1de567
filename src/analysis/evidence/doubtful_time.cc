#include "analysis/evidence/doubtful_time.h"

#include <algorithm>
#include <optional>

#include "analysis/evidence/waiting_calls.h"
#include "analysis/evidence/work_alike.h"

namespace tacho {
namespace {

struct OnStream {
  TimeNs called;
  Interval when;
  StreamId stream{};
};

// When the missing work of a call may have run on one stream.
struct MayHaveRun {
  TimeNs called, launched;  // the start and the end of the call
  StreamId stream{};
  Interval when;
  std::optional<DurationNs> turn;  // the limit on its turn (turns.h); absent: no limit
};

// What was launched later onto a stream: the earliest start of that work, and of its calls.
struct Next {
  TimeNs start, called;
};

// Narrows the intervals of `may` (not empty, sorted by call). A stream runs its work in the order
// of the launches, so missing work starts after all earlier work is over and ends before the next
// work begins.
void KeepOrder(const Trace& trace, const LaunchLinks& links, const FinishedWork& finished,
               std::vector<MayHaveRun>& may) {
  std::vector<std::optional<TimeNs>> over(trace.words.streams().size());
  std::vector<std::optional<Next>> next(over.size());
  const auto is_before = [&](const OnStream& work) {
    std::optional<TimeNs>& end = over[Index(work.stream)];
    end = std::max(end.value_or(work.when.end), work.when.end);
  };
  const auto is_after = [&](const OnStream& work) {
    std::optional<Next>& one = next[Index(work.stream)];
    if (!one) one = {work.when.start, work.called};
    one = {std::min(one->start, work.when.start), std::min(one->called, work.called)};
  };
  // Work launched between the first and the last of these calls: usually little.
  std::vector<OnStream> between;
  for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
    const uint32_t call = links.call_of_gpu[row];
    if (call == LaunchLinks::kNone) continue;
    const OnStream work{trace.host_calls.start[call], trace.gpu.When(row), trace.gpu.stream[row]};
    if (work.called < may.front().called) {
      is_before(work);
    } else if (work.called > may.back().called) {
      is_after(work);
    } else {
      between.push_back(work);
    }
  }
  std::ranges::sort(between, {}, &OnStream::called);
  std::vector<TimeNs> next_called(may.size(), TimeNs{INT64_MAX});
  auto after = between.rbegin();
  for (size_t i = may.size(); i-- > 0;) {
    MayHaveRun& one = may[i];
    for (; after != between.rend() && after->called > one.called; ++after) is_after(*after);
    if (const std::optional<Next>& follows = next[Index(one.stream)]) {
      one.when.end = std::min(one.when.end, follows->start);
      next_called[i] = follows->called;
    }
  }
  // By stream: the latest time at which all earlier work may be over, missing work included.
  std::vector<TimeNs> latest(over.size(), trace.span.start);
  auto before = between.begin();
  for (size_t i = 0; i < may.size(); ++i) {
    MayHaveRun& one = may[i];
    for (; before != between.end() && before->called < one.called; ++before) is_before(*before);
    const TimeNs begin = over[Index(one.stream)].value_or(one.when.start);
    TimeNs& last = latest[Index(one.stream)];
    last = std::max({last, begin, one.launched});
    if (one.turn) {
      // The limit holds only if neither the host nor the next launch may have waited for this work.
      const TimeNs by = finished.AwaitedFrom(last + *one.turn);
      if (next_called[i] > by) one.when.end = std::min(one.when.end, by);
    }
    last = std::max(last, one.when.end);
    one.when.start = std::max(one.when.start, begin);
  }
}

// The start of the first call with work; the end of the trace if no call has work.
TimeNs FirstWithWork(const Trace& trace, const LaunchLinks& links) {
  TimeNs first = trace.span.end;
  links.first.ForEach(
      [&](uint32_t call, uint32_t) { first = std::min(first, trace.host_calls.start[call]); });
  return first;
}

}  // namespace

IntervalSet DoubtfulTime(const TrackIndex& index, const LaunchLinks& links,
                         const std::vector<uint32_t>& incomplete, const WorkByLikeness& works,
                         const ClocksBound& clocks) {
  const Trace& trace = index.trace();
  const TimeNs first = FirstWithWork(trace, links);
  const FinishedWork finished = FindFinishedWork(trace);
  std::vector<Interval> doubtful;
  std::vector<MayHaveRun> may;
  for (const uint32_t call : incomplete) {
    const TimeNs called = trace.host_calls.start[call];
    const TimeNs start = clocks.behind ? called - *clocks.behind : trace.span.start;
    const TimeNs end =
        clocks.common ? finished.OverBy(trace.host_calls.When(call).end) : trace.span.end;
    // The first calls, before any call has recorded work, may launch work that is never launched
    // again, so there may be no similar work. The missing work of such a call is then taken to have
    // run on any stream that has work.
    const WorkAlike* const alike = called < first ? &works.OfOrAll(call) : works.Of(call);
    if (alike == nullptr) {
      doubtful.push_back({start, end});
      continue;
    }
    const std::optional<DurationNs> turn =
        clocks.common && works.IsInOperator(call) ? alike->Turn() : std::nullopt;
    for (const StreamId stream : alike->streams)
      may.push_back({called, trace.host_calls.When(call).end, stream, {start, end}, turn});
  }
  if (!may.empty()) KeepOrder(trace, links, finished, may);
  for (const MayHaveRun& one : may) doubtful.push_back(one.when);
  return IntervalSet(std::move(doubtful));
}

}  // namespace tacho
