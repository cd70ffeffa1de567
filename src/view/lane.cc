#include "view/lane.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace tacho {

Lane::Lane(std::span<const DrawnTable> tables, std::vector<SliceRef> slices)
    : tables_(tables), slices_(std::move(slices)) {
  Sums sums{};
  std::vector<uint32_t> longest;
  for (size_t i = 0; i < slices_.size(); ++i) {
    const Interval when = When(i);
    if (i % kBlock == 0) {
      starts_.push_back(when.start);
      sums_.push_back(sums);
      longest.push_back(static_cast<uint32_t>(i));
    }
    sums[ColorOf(i)] += static_cast<uint64_t>(when.length().ns);
    longest.back() = Longer(longest.back(), static_cast<uint32_t>(i));
  }
  sums_.push_back(sums);
  while (!longest.empty()) {
    std::vector<uint32_t> above;
    for (size_t i = 0; longest.size() > 1 && i < longest.size(); ++i) {
      if (i % kFanOut == 0) above.push_back(longest[i]);
      above.back() = Longer(above.back(), longest[i]);
    }
    longest_.push_back(std::exchange(longest, std::move(above)));
  }
}

uint64_t Lane::BusyNs() const {
  return std::accumulate(sums_.back().begin(), sums_.back().end(), uint64_t{0});
}

size_t Lane::MemoryBytes() const {
  size_t bytes = slices_.size() * sizeof(SliceRef) + starts_.size() * sizeof(TimeNs) +
                 sums_.size() * sizeof(Sums);
  for (const auto& level : longest_) bytes += level.size() * sizeof(uint32_t);
  return bytes;
}

uint32_t Lane::Longer(uint32_t a, uint32_t b) const {
  return When(b).length() > When(a).length() ? b : a;
}

size_t Lane::FirstFrom(TimeNs t, size_t from) const {
  // The blocks' starts are close together in memory: gallop along them, then look into one block.
  size_t low = from / kBlock, step = 1;
  while (low + step < starts_.size() && starts_[low + step] < t) {
    low += step;
    step *= 2;
  }
  const auto begin = starts_.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(std::min(low + step, starts_.size()));
  const auto after = std::lower_bound(begin + static_cast<std::ptrdiff_t>(low), end, t);
  // The block after the last that starts before `t`.
  const auto block = static_cast<size_t>(after - begin);
  size_t first = block == 0 ? 0 : (block - 1) * kBlock;
  size_t count = std::min(block * kBlock, slices_.size()) - first;
  while (count > 0) {
    const size_t half = count / 2;
    const bool before = When(first + half).start < t;
    first = before ? first + half + 1 : first;
    count = before ? count - half - 1 : half;
  }
  return first;
}

Lane::Places Lane::In(Interval when) const {
  if (when.empty()) return {};
  size_t first = FirstFrom(when.start);
  const size_t last = FirstFrom(when.end, first);
  if (first > 0 && When(first - 1).end > when.start) --first;
  return {first, last};
}

// Equal ones come in any order.
void Lane::LookFor(uint32_t place, Pile& pile) const {
  const DurationNs length = When(place).length();
  if (length > pile.most || (length == pile.most && place < pile.longest)) {
    pile.most = length;
    pile.longest = place;
  }
}

void Lane::Add(size_t place, Interval column, Pile& pile) const {
  pile.sums[ColorOf(place)] += static_cast<uint64_t>(When(place).Clip(column).length().ns);
  LookFor(static_cast<uint32_t>(place), pile);
}

void Lane::AddWhole(size_t first, size_t last, Pile& pile) const {
  const Interval all{TimeNs{std::numeric_limits<int64_t>::min()},
                     TimeNs{std::numeric_limits<int64_t>::max()}};
  while (first < last && first % kBlock != 0) Add(first++, all, pile);
  while (first < last && last % kBlock != 0) Add(--last, all, pile);
  if (first == last) return;
  first /= kBlock;
  last /= kBlock;
  for (size_t color = 0; color < kColors; ++color) {
    pile.sums[color] += sums_[last][color] - sums_[first][color];
  }
  for (size_t level = 0; first < last; ++level) {
    while (first < last && first % kFanOut != 0) LookFor(longest_[level][first++], pile);
    while (first < last && last % kFanOut != 0) LookFor(longest_[level][--last], pile);
    first /= kFanOut;
    last /= kFanOut;
  }
}

void Lane::Fold(TimeNs start, DurationNs width, std::span<Bucket> columns) const {
  size_t next = FirstFrom(start);  // the first slice that does not start before the column
  for (Bucket& bucket : columns) {
    bucket = {};
    const Interval column{start, TimeNs{AddSaturated(start.ns, width.ns)}};
    start = column.end;
    const bool open = next > 0 && When(next - 1).end > column.start;
    const size_t first = next - (open ? 1 : 0);
    Pile pile;
    if (open) Add(first, column, pile);
    const size_t from = next, two_on = next / kBlock + 2;
    if (two_on < starts_.size() && starts_[two_on] < column.end) {
      next = FirstFrom(column.end, next);
    } else {
      while (next < size() && When(next).start < column.end) ++next;
    }
    if (next > from) {
      AddWhole(from, next - 1, pile);
      Add(next - 1, column, pile);
    }
    if (first == next) continue;
    bucket.count = static_cast<uint32_t>(next - first);
    bucket.longest = pile.longest;
    bucket.color = ColorOf(pile.longest);
    uint64_t most = 0;
    for (size_t color = 0; color < kColors; ++color) {
      bucket.busy_ns += pile.sums[color];
      if (pile.sums[color] <= most) continue;
      most = pile.sums[color];
      bucket.color = static_cast<uint8_t>(color);
    }
  }
}

}  // namespace tacho
