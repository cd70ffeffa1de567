#include "analysis/evidence/doubtful_time.h"

#include <algorithm>
#include <optional>

#include "analysis/evidence/work_alike.h"

namespace tacho {
namespace {

struct OnStream {
  TimeNs called;
  Interval when;
  StreamId stream{};
};

// The work that has a launch, by the start of its call.
std::vector<OnStream> WorkByCall(const Trace& trace, const LaunchLinks& links) {
  std::vector<OnStream> pieces;
  for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
    const uint32_t call = links.call_of_gpu[row];
    if (call == LaunchLinks::kNone) continue;
    pieces.push_back({trace.host_calls.start[call], trace.gpu.When(row), trace.gpu.stream[row]});
  }
  std::ranges::sort(pieces, {}, &OnStream::called);
  return pieces;
}

// When the work of a call may have run on one stream.
struct MayHaveRun {
  TimeNs called;
  StreamId stream{};
  Interval when;
};

// A stream runs its work in the order of the launches: not before all that was launched before it
// is over, and not after the next has begun. `may`: by call.
void KeepOrder(const std::vector<OnStream>& work, size_t streams, std::vector<MayHaveRun>& may) {
  std::vector<std::optional<TimeNs>> over(streams), next(streams);
  auto before = work.begin();
  for (MayHaveRun& one : may) {
    for (; before != work.end() && before->called < one.called; ++before) {
      std::optional<TimeNs>& end = over[Index(before->stream)];
      end = std::max(end.value_or(before->when.end), before->when.end);
    }
    one.when.start = std::max(one.when.start, over[Index(one.stream)].value_or(one.when.start));
  }
  auto after = work.rbegin();
  for (size_t i = may.size(); i-- > 0;) {
    MayHaveRun& one = may[i];
    for (; after != work.rend() && after->called > one.called; ++after) {
      std::optional<TimeNs>& start = next[Index(after->stream)];
      start = std::min(start.value_or(after->when.start), after->when.start);
    }
    one.when.end = std::min(one.when.end, next[Index(one.stream)].value_or(one.when.end));
  }
}

}  // namespace

IntervalSet DoubtfulTime(const TrackIndex& index, const LaunchLinks& links,
                         const std::vector<uint32_t>& incomplete,
                         std::optional<DurationNs> behind) {
  if (incomplete.empty()) return {};
  const Trace& trace = index.trace();
  const WorkByLikeness works(index, links);
  const std::vector<OnStream> work = WorkByCall(trace, links);
  std::vector<Interval> doubtful;
  std::vector<MayHaveRun> may;
  for (const uint32_t call : incomplete) {
    const TimeNs called = trace.host_calls.start[call];
    const TimeNs start = behind ? called - *behind : trace.span.start;
    // Of the first calls, before any has work, nothing like them need come again.
    const bool is_first = work.empty() || called < work.front().called;
    const WorkAlike* const alike = is_first ? &works.OfOrAll(call) : works.Of(call);
    if (alike == nullptr) {
      doubtful.push_back({start, trace.span.end});
      continue;
    }
    const std::optional<DurationNs> way =
        behind == DurationNs{} && works.IsInOperator(call) ? alike->Way() : std::nullopt;
    const Interval most{start,
                        way && *way < trace.span.end - start ? start + *way : trace.span.end};
    for (const StreamId stream : alike->streams) may.push_back({called, stream, most});
  }
  KeepOrder(work, trace.words.streams().size(), may);
  for (const MayHaveRun& one : may) doubtful.push_back(one.when);
  return IntervalSet(std::move(doubtful));
}

}  // namespace tacho
