#include "analysis/evidence/recorded_part.h"

#include <algorithm>

namespace tacho {

Interval RecordedPart(const Integrity& integrity, Interval span, Interval work) {
  if (work.empty()) return span;
  const LossPattern pattern = integrity.lost.pattern;
  const bool at_start = pattern == LossPattern::kStart || pattern == LossPattern::kStartAndEnd;
  const bool at_end = pattern == LossPattern::kEnd || pattern == LossPattern::kStartAndEnd;
  if (integrity.stops.began) span.start = std::min(*integrity.stops.began, work.start);
  if (integrity.stops.stopped) span.end = std::max(*integrity.stops.stopped, work.end);
  if (at_start) span.start = std::max(span.start, work.start);
  if (at_end) span.end = std::min(span.end, work.end);
  return span;
}

}  // namespace tacho
