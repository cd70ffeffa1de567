#include "view/window_gaps.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace tacho {
namespace {

bool LongerFirst(const WindowGap& a, const WindowGap& b) {
  if (a.inside != b.inside) return a.inside > b.inside;
  return std::tie(a.when.start, a.rank, a.device) < std::tie(b.when.start, b.rank, b.device);
}

// Keeps the `most` longest gaps in a heap with the shortest on top.
void Keep(const WindowGap& gap, size_t most, std::vector<WindowGap>& heap) {
  if (heap.size() == most) {
    if (most == 0 || !LongerFirst(gap, heap.front())) return;
    std::ranges::pop_heap(heap, LongerFirst);
    heap.pop_back();
  }
  heap.push_back(gap);
  std::ranges::push_heap(heap, LongerFirst);
}

// Visits the gaps of a device. `row` shows the device's idle time by cause; a gap is a series of
// slices that touch each other.
template <typename Take>
void ForEachGap(const TimelineRow& row, Interval window, Take take) {
  for (const Lane& lane : row.lanes) {
    const Lane::Places places = lane.In(window);
    if (places.first == places.last) continue;
    size_t at = places.first;
    while (at > 0 && lane.When(at - 1).end == lane.Start(at)) --at;
    while (at < places.last) {
      Interval when = lane.When(at);
      std::array<DurationNs, kColors> parts{};
      for (; at < lane.size() && lane.Start(at) <= when.end; ++at) {
        parts[lane.ColorOf(at)] += lane.When(at).length();
        when.end = lane.When(at).end;
      }
      const auto most = std::ranges::max_element(parts) - parts.begin();
      take(when, static_cast<IdleCause>(most));
    }
  }
}

}  // namespace

WindowGaps LongestGapsIn(const ReadRanks& ranks, Interval window, size_t most,
                         std::optional<uint32_t> rank) {
  WindowGaps gaps;
  for (uint32_t number = 0; number < ranks.size(); ++number) {
    if (!ranks[number] || (rank && *rank != number)) continue;
    const ViewedRank& of = *ranks[number];
    for (const TimelineRow& row : of.rows()) {
      if (row.kind != RowKind::kIdle) continue;
      ForEachGap(row, of.ToTrace(window), [&](Interval when, IdleCause cause) {
        const Interval run = of.ToRun(when);
        ++gaps.count;
        Keep({number, row.owner, run, cause, run.Clip(window).length()}, most, gaps.longest);
      });
    }
  }
  std::ranges::sort(gaps.longest, LongerFirst);
  return gaps;
}

}  // namespace tacho
