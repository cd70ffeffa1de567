#pragma once

#include <vector>

#include "base/time.h"

namespace tacho {

// A set of instants: intervals that are sorted and neither overlap nor touch.
class IntervalSet {
 public:
  IntervalSet() = default;
  // The union of `intervals`, which may be in any order. Empty intervals add nothing. Cost: one
  // sort.
  explicit IntervalSet(std::vector<Interval> intervals);

  [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }
  [[nodiscard]] bool empty() const { return intervals_.empty(); }
  // How much of `when` is in the set, as a length. Cost: O(log n).
  [[nodiscard]] DurationNs Covered(Interval when) const;
  // Whether any instant of `when` is in the set. Cost: O(log n).
  [[nodiscard]] bool Touches(Interval when) const;
  // Cuts `when` into parts inside and outside the set, and calls visit(part, is_inside) for each,
  // in the order of time. Cost: O(log n) plus the number of parts.
  template <typename Visit>
  void ForEachPart(Interval when, Visit visit) const {
    for (size_t i = FirstAfter(when.start); !when.empty(); ++i) {
      const Interval in = i < intervals_.size() ? intervals_[i].Clip(when) : Interval{};
      const TimeNs out_until = in.empty() ? when.end : in.start;
      if (out_until > when.start) visit(Interval{when.start, out_until}, false);
      if (in.empty()) return;
      visit(in, true);
      when.start = in.end;
    }
  }
  // The difference of the two sets, and their intersection. Cost: O(n).
  [[nodiscard]] IntervalSet Without(const IntervalSet& other) const;
  [[nodiscard]] IntervalSet Within(const IntervalSet& other) const;
  // The times between the first start and the last end that are not in the set.
  [[nodiscard]] IntervalSet Gaps() const;

 private:
  // The index of the first interval that ends after `t`.
  [[nodiscard]] size_t FirstAfter(TimeNs t) const;
  void Add(Interval next);

  std::vector<Interval> intervals_;
  std::vector<DurationNs> before_;  // by interval: the total length of all intervals before it
};

}  // namespace tacho
