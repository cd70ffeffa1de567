#include "analysis/evidence/doubtful_time.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "model/nesting.h"

namespace tacho {
namespace {

// By host call: the name of the innermost operator that it is made in.
std::vector<StringId> OperatorsOfCalls(const TrackIndex& index) {
  const Trace& trace = index.trace();
  std::vector<StringId> operators(trace.host_calls.size());
  std::vector<HostRows> tables;
  tables.emplace_back(SliceKind::kHostOp, index.host_ops());
  tables.emplace_back(SliceKind::kHostCall, index.host_calls());
  WalkHostSlices(tables, StringId::kEmpty, [&](const HostSlice& slice, StringId parent) {
    if (slice.kind == SliceKind::kHostOp) return trace.host_ops.name[slice.row];
    operators[slice.row] = parent;
    return parent;
  });
  return operators;
}

// What the work of calls alike is like.
struct WorkAlike {
  std::vector<StreamId> streams;  // that it ran on
  DurationNs longest_way;         // from a call to the end of its work
  size_t kernels = 0;

  void Add(StreamId stream) {
    if (std::ranges::find(streams, stream) == streams.end()) streams.push_back(stream);
  }
  // How long what is like it may have taken. Of copies nobody knows: their sizes differ.
  [[nodiscard]] std::optional<DurationNs> Way() const {
    constexpr size_t kFewest = 10;
    if (kernels < kFewest) return std::nullopt;
    return DurationNs{2 * longest_way.ns};
  }
};

class WorkByLikeness {
 public:
  WorkByLikeness(const TrackIndex& index, const LaunchLinks& links)
      : trace_(index.trace()), operators_(OperatorsOfCalls(index)) {
    const GpuTable& gpu = trace_.gpu;
    for (uint32_t row = 0; row < gpu.size(); ++row) {
      all_.Add(gpu.stream[row]);
      const uint32_t call = links.call_of_gpu[row];
      if (call == LaunchLinks::kNone) continue;
      const DurationNs way = gpu.When(row).end - trace_.host_calls.start[call];
      WorkAlike& alike = alike_[LikenessOf(call)];
      alike.Add(gpu.stream[row]);
      alike.longest_way = std::max(alike.longest_way, way);
      if (gpu.kind[row] == SliceKind::kKernel) ++alike.kernels;
    }
  }
  [[nodiscard]] const WorkAlike& Of(uint32_t call) const {
    const auto alike = alike_.find(LikenessOf(call));
    return alike == alike_.end() ? all_ : alike->second;
  }

 private:
  // Made in operators of one name, by calls of one name.
  using Likeness = std::pair<StringId, StringId>;
  [[nodiscard]] Likeness LikenessOf(uint32_t call) const {
    return {operators_[call], trace_.host_calls.name[call]};
  }

  const Trace& trace_;
  std::vector<StringId> operators_;
  WorkAlike all_;
  std::map<Likeness, WorkAlike> alike_;
};

struct OnStream {
  TimeNs called, start;
  StreamId stream{};
};

// The work that has a launch, the latest call first.
std::vector<OnStream> WorkByCall(const Trace& trace, const LaunchLinks& links) {
  std::vector<OnStream> pieces;
  for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
    const uint32_t call = links.call_of_gpu[row];
    if (call == LaunchLinks::kNone) continue;
    pieces.push_back({trace.host_calls.start[call], trace.gpu.start[row], trace.gpu.stream[row]});
  }
  std::ranges::sort(pieces, std::ranges::greater{}, &OnStream::called);
  return pieces;
}

}  // namespace

IntervalSet DoubtfulTime(const TrackIndex& index, const LaunchLinks& links,
                         const std::vector<uint32_t>& incomplete) {
  const Trace& trace = index.trace();
  const WorkByLikeness works(index, links);
  const std::vector<OnStream> pieces = WorkByCall(trace, links);
  std::vector<std::optional<TimeNs>> next_on(trace.words.streams().size());
  std::vector<Interval> doubtful;
  auto piece = pieces.begin();
  for (size_t i = incomplete.size(); i-- > 0;) {
    const TimeNs start = trace.host_calls.start[incomplete[i]];
    for (; piece != pieces.end() && piece->called > start; ++piece) {
      std::optional<TimeNs>& next = next_on[Index(piece->stream)];
      next = std::min(next.value_or(piece->start), piece->start);
    }
    const WorkAlike& work = works.Of(incomplete[i]);
    const std::optional<DurationNs> way = work.Way();
    const TimeNs latest = way ? start + *way : trace.span.end;
    TimeNs end = start;
    for (const StreamId stream : work.streams)
      end = std::max(end, std::min(next_on[Index(stream)].value_or(latest), latest));
    doubtful.push_back({start, end});
  }
  return IntervalSet(std::move(doubtful));
}

}  // namespace tacho
