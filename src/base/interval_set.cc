#include "base/interval_set.h"

#include <algorithm>

namespace tacho {

IntervalSet::IntervalSet(std::vector<Interval> intervals) {
  std::ranges::sort(intervals, {}, &Interval::start);
  Interval open;
  for (const Interval& next : intervals) {
    if (next.empty()) continue;
    if (open.empty() || next.start > open.end) {
      Add(open);
      open = next;
    } else {
      open.end = std::max(open.end, next.end);
    }
  }
  Add(open);
}

void IntervalSet::Add(Interval next) {
  if (next.empty()) return;
  before_.push_back(intervals_.empty() ? DurationNs{}
                                       : before_.back() + intervals_.back().length());
  intervals_.push_back(next);
}

size_t IntervalSet::FirstAfter(TimeNs t) const {
  return static_cast<size_t>(std::ranges::upper_bound(intervals_, t, {}, &Interval::end) -
                             intervals_.begin());
}

DurationNs IntervalSet::Covered(Interval when) const {
  if (when.empty()) return {};
  const size_t first = FirstAfter(when.start);
  const size_t last = static_cast<size_t>(
      std::ranges::lower_bound(intervals_, when.end, {}, &Interval::start) - intervals_.begin());
  if (first >= last) return {};
  const DurationNs whole = before_[last - 1] + intervals_[last - 1].length() - before_[first];
  const DurationNs early = Interval{intervals_[first].start, when.start}.length();
  const DurationNs late = Interval{when.end, intervals_[last - 1].end}.length();
  return whole - early - late;
}

bool IntervalSet::Touches(Interval when) const {
  const size_t first = FirstAfter(when.start);
  return !when.empty() && first < intervals_.size() && intervals_[first].start < when.end;
}

IntervalSet IntervalSet::Without(const IntervalSet& other) const {
  IntervalSet rest;
  auto cut = other.intervals_.begin();
  for (Interval left : intervals_) {
    while (cut != other.intervals_.end() && cut->end <= left.start) ++cut;
    for (auto at = cut; at != other.intervals_.end() && at->start < left.end; ++at) {
      rest.Add({left.start, at->start});
      left.start = at->end;
    }
    rest.Add(left);
  }
  return rest;
}

IntervalSet IntervalSet::Within(const IntervalSet& other) const { return Without(Without(other)); }

IntervalSet IntervalSet::Gaps() const {
  IntervalSet gaps;
  for (size_t i = 1; i < intervals_.size(); ++i) {
    gaps.Add({intervals_[i - 1].end, intervals_[i].start});
  }
  return gaps;
}

}  // namespace tacho
