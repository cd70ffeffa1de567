#include "stats/range_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "text/format_number.h"

namespace tacho {
namespace {

constexpr size_t kMostAround = 10'000;

// The ranges of one thread that are open at the current time of a sweep.
class OpenRanges {
 public:
  explicit OpenRanges(const std::vector<NvtxRange>& ranges) : ranges_(ranges) {}

  // Removes ranges that ended before `t`.
  void EndBefore(TimeNs t) {
    while (!open_.empty() && ranges_[open_.back()].when.end < t) open_.pop_back();
    if (open_.size() > 2 * kept_) Forget(t);  // ranges below the last one may have ended too
  }
  void Open(uint32_t range) { open_.push_back(range); }
  void Clear() { open_.clear(); }

  // Calls `use` with each range around `when`, innermost first. The sweep must be at the start of
  // `when`. If there are too many ranges, leaves out the outermost ones and returns false.
  template <typename Use>
  bool ForEachAround(Interval when, const Use& use) {
    size_t around = 0, ended = 0;
    auto range = open_.rbegin();
    for (; range != open_.rend(); ++range) {
      const TimeNs end = ranges_[*range].when.end;
      if (end >= when.end) {
        if (around++ == kMostAround) break;
        use(*range);
      } else {
        ended += end < when.start ? 1 : 0;
      }
    }
    const bool is_all = range == open_.rend();
    if (ended > kMostAround) Forget(when.start);
    return is_all;
  }

 private:
  void Forget(TimeNs t) {
    std::erase_if(open_, [&](uint32_t range) { return ranges_[range].when.end < t; });
    kept_ = std::max<size_t>(open_.size(), kFew);
  }

  static constexpr size_t kFew = 16;
  const std::vector<NvtxRange>& ranges_;
  std::vector<uint32_t> open_;
  size_t kept_ = kFew;
};

}  // namespace

std::vector<uint32_t> ParentsOf(const std::vector<NvtxRange>& ranges) {
  std::vector<uint32_t> parents(ranges.size(), kNoRange);
  OpenRanges open(ranges);
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    const NvtxRange& range = ranges[i];
    if (!range.is_on_one_thread) continue;
    if (i > 0 && ranges[i - 1].track != range.track) open.Clear();
    open.EndBefore(range.when.start);
    open.ForEachAround(range.when, [&](uint32_t around) {
      if (parents[i] == kNoRange || ranges[around].when.length() < ranges[parents[i]].when.length())
        parents[i] = around;
    });
    open.Open(i);
  }
  return parents;
}

size_t ForEachLaunch(const StatsTrace& stats, bool kernels_only, const LaunchUse& use) {
  const Trace& trace = stats.trace();
  const HostCallTable& calls = trace.host_calls;
  std::vector<std::pair<uint32_t, uint32_t>> work;  // call, row of gpu
  for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
    const bool is_graph = trace.gpu.kind[row] == SliceKind::kKernel && !stats.IsKernel(row);
    if (!is_graph && (!kernels_only || stats.IsKernel(row)))
      work.emplace_back(stats.CallOf(row), row);
  }
  const auto place = [&](const std::pair<uint32_t, uint32_t>& piece) {
    const uint32_t call = piece.first;
    return call == LaunchLinks::kNone ? std::tuple(uint32_t{0xffffffff}, TimeNs{0}, piece.second)
                                      : std::tuple(static_cast<uint32_t>(Index(calls.track[call])),
                                                   calls.start[call], call);
  };
  std::ranges::stable_sort(work, {}, place);
  const std::vector<NvtxRange>& ranges = stats.ranges();
  OpenRanges open(ranges);
  uint32_t next = 0;
  size_t cut = 0;
  LaunchInRanges launch;
  for (size_t at = 0; at < work.size();) {
    const uint32_t call = work[at].first;
    launch.call = call;
    launch.work.assign(1, work[at++].second);
    launch.ranges.clear();
    if (call == LaunchLinks::kNone) {
      use(launch);
      continue;
    }
    for (; at < work.size() && work[at].first == call; ++at) launch.work.push_back(work[at].second);
    const uint32_t track = static_cast<uint32_t>(Index(calls.track[call]));
    const Interval when = calls.When(call);
    while (next < ranges.size() &&
           std::tuple(static_cast<uint32_t>(Index(ranges[next].track)), ranges[next].when.start) <=
               std::tuple(track, when.start)) {
      if (next == 0 || ranges[next - 1].track != ranges[next].track) open.Clear();
      const bool is_of_thread = Index(ranges[next].track) == track;
      if (is_of_thread && ranges[next].is_on_one_thread) {
        open.EndBefore(ranges[next].when.start);
        open.Open(next);
      }
      ++next;
    }
    const bool is_thread_with_ranges = next > 0 && Index(ranges[next - 1].track) == track;
    if (is_thread_with_ranges) {
      open.EndBefore(when.start);
      const bool is_all =
          open.ForEachAround(when, [&](uint32_t range) { launch.ranges.push_back(range); });
      cut += is_all ? 0 : 1;
    }
    use(launch);
  }
  return cut;
}

std::string LacksRangesOf(size_t cut) {
  if (cut == 0) return "";
  return fmt::format("{} in more than 10,000 ranges: the outer ones are left out",
                     FormatCounted(cut, "launch lies", "launches lie"));
}

}  // namespace tacho
