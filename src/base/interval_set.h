#pragma once

#include <vector>

#include "base/time.h"

namespace tacho {

// A set of instants: intervals that are sorted and neither overlap nor touch.
class IntervalSet {
 public:
  IntervalSet() = default;
  // The union of `intervals`, in any order; empty ones add nothing. Cost: a sort.
  explicit IntervalSet(std::vector<Interval> intervals);

  [[nodiscard]] const std::vector<Interval>& intervals() const { return intervals_; }
  [[nodiscard]] bool empty() const { return intervals_.empty(); }
  // The length of the part of `when` that is in the set. Cost: O(log n).
  [[nodiscard]] DurationNs Covered(Interval when) const;
  // Whether any instant of `when` is in the set. Cost: O(log n).
  [[nodiscard]] bool Touches(Interval when) const;
  // The difference and the intersection. Cost: O(n).
  [[nodiscard]] IntervalSet Without(const IntervalSet& other) const;
  [[nodiscard]] IntervalSet Within(const IntervalSet& other) const;
  // The gaps between the first start and the last end.
  [[nodiscard]] IntervalSet Gaps() const;

 private:
  // The first interval that ends after `t`.
  [[nodiscard]] size_t FirstAfter(TimeNs t) const;
  void Add(Interval next);

  std::vector<Interval> intervals_;
  std::vector<DurationNs> before_;  // the lengths of all intervals before, added up
};

}  // namespace tacho
