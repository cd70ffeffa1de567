#include "stats/range_sweep.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tacho {
namespace {

constexpr size_t kMostAround = 10'000;

// The ranges of a thread that are open at a time that moves on.
class OpenRanges {
 public:
  explicit OpenRanges(const std::vector<NvtxRange>& ranges) : ranges_(ranges) {}

  // Forgets those that ended before `t`.
  void EndBefore(TimeNs t) {
    while (!open_.empty() && ranges_[open_.back()].when.end < t) open_.pop_back();
    if (open_.size() > 2 * kept_) {  // others below the last one
      std::erase_if(open_, [&](uint32_t range) { return ranges_[range].when.end < t; });
      kept_ = std::max<size_t>(open_.size(), kFew);
    }
  }
  void Open(uint32_t range) { open_.push_back(range); }
  void Clear() { open_.clear(); }

  // Those that end at `end` or later, the last ones first.
  template <typename Use>
  void ForEachAround(TimeNs end, const Use& use) const {
    size_t left = kMostAround;
    for (auto range = open_.rbegin(); range != open_.rend() && left > 0; ++range, --left) {
      if (ranges_[*range].when.end >= end) use(*range);
    }
  }

 private:
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
    open.ForEachAround(range.when.end, [&](uint32_t around) {
      if (parents[i] == kNoRange || ranges[around].when.length() < ranges[parents[i]].when.length())
        parents[i] = around;
    });
    open.Open(i);
  }
  return parents;
}

std::vector<LaunchInRanges> LaunchesInRanges(const StatsTrace& stats, bool kernels_only) {
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
  std::vector<LaunchInRanges> launches;
  const std::vector<NvtxRange>& ranges = stats.ranges();
  OpenRanges open(ranges);
  uint32_t next = 0;
  for (const auto& [call, row] : work) {
    const bool has_call = call != LaunchLinks::kNone;
    if (has_call && !launches.empty() && launches.back().call == call) {
      launches.back().work.push_back(row);
      continue;
    }
    LaunchInRanges& launch = launches.emplace_back(LaunchInRanges{call, {row}, {}});
    if (!has_call) continue;
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
    if (!is_thread_with_ranges) continue;
    open.EndBefore(when.start);
    open.ForEachAround(when.end, [&](uint32_t range) { launch.ranges.push_back(range); });
  }
  return launches;
}

}  // namespace tacho
