#include "view/lane.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tacho {

Lane::Lane(std::span<const DrawnTable> tables, std::span<const SliceRef> slices)
    : tables_(tables), size_(slices.size()) {
  const auto narrow = [](uint64_t ns) {
    return static_cast<uint32_t>(std::min<uint64_t>(ns, kWide));
  };
  const size_t blocks = (size_ + kBlock - 1) / kBlock;
  starts_.reserve(blocks);
  blocks_.reserve(blocks);
  std::vector<Longest> longest;
  for (size_t i = 0; i < size_; ++i) {
    const size_t in_block = i % kBlock;
    const DrawnTable& table = tables_[slices[i].table()];
    const Interval when = table.slices->When(slices[i].row());
    const auto length = static_cast<uint64_t>(when.length().ns);
    const Longest only{static_cast<uint32_t>(i), narrow(length)};
    if (in_block == 0) {
      starts_.push_back(when.start);
      blocks_.push_back({.before = all_, .from = {}, .took = {}, .color = {}, .slice = {}});
      longest.push_back(only);
    }
    Block& block = blocks_.back();
    block.from[in_block] =
        narrow(static_cast<uint64_t>(when.start.ns) - static_cast<uint64_t>(starts_.back().ns));
    block.took[in_block] = only.took;
    block.color[in_block] =
        table.color_of_name[static_cast<size_t>(table.slices->name[slices[i].row()])];
    block.slice[in_block] = slices[i];
    all_[block.color[in_block]] += length;
    longest.back() = Longer(longest.back(), only);
  }
  while (!longest.empty()) {
    std::vector<Longest> above;
    for (size_t i = 0; longest.size() > 1 && i < longest.size(); ++i) {
      if (i % kFanOut == 0) above.push_back(longest[i]);
      above.back() = Longer(above.back(), longest[i]);
    }
    longest_.push_back(std::exchange(longest, std::move(above)));
  }
}

uint64_t Lane::BusyNs() const { return std::accumulate(all_.begin(), all_.end(), uint64_t{0}); }

size_t Lane::MemoryBytes() const {
  size_t bytes = sizeof *this + starts_.size() * (sizeof(TimeNs) + sizeof(Block));
  for (const auto& level : longest_)
    bytes += sizeof(std::vector<Longest>) + level.size() * sizeof(Longest);
  return bytes;
}

size_t Lane::LastBlockBefore(TimeNs t, size_t from) const {
  size_t low = from, step = 1;
  while (low + step < starts_.size() && starts_[low + step] < t) {
    low += step;
    step *= 2;
  }
  // If there is a block `high`, it does not begin before `t`.
  size_t high = std::min(low + step, starts_.size());
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    (starts_[middle] < t ? low : high) = middle;
  }
  return low;
}

size_t Lane::FirstFrom(TimeNs t, size_t block) const {
  size_t first = block * kBlock;
  if (first >= size() || starts_[block] >= t) return first;
  // From here on, the block begins before `t`.
  const uint64_t limit = static_cast<uint64_t>(t.ns) - static_cast<uint64_t>(starts_[block].ns);
  size_t count = std::min(kBlock, size() - first);
  while (count > 0) {
    const size_t half = count / 2;
    const uint32_t from = BlockOf(first).from[(first + half) % kBlock];
    const bool before = from < kWide ? from < limit : InTable(first + half).start < t;
    first = before ? first + half + 1 : first;
    count = before ? count - half - 1 : half;
  }
  return first;
}

Lane::Places Lane::In(Interval when) const {
  if (when.empty()) return {};
  const size_t block = LastBlockBefore(when.start, 0);
  size_t first = FirstFrom(when.start, block);
  const size_t last = FirstFrom(when.end, LastBlockBefore(when.end, block));
  if (first > 0 && When(first - 1).end > when.start) --first;
  return {first, last};
}

Lane::Edge Lane::EdgeAt(TimeNs t, size_t block) const {
  Edge edge{FirstFrom(t, block)};
  if (edge.next == 0) return edge;
  const Block& of = blocks_[block];
  edge.before = of.before;
  const size_t last = edge.next - 1;
  for (size_t i = 0; i < last % kBlock; ++i) {
    edge.before[of.color[i]] +=
        of.took[i] < kWide ? of.took[i] : static_cast<uint64_t>(Length(block * kBlock + i).ns);
  }
  const Interval when = When(last);
  edge.open = when.end > t;
  edge.before[of.color[last % kBlock]] +=
      static_cast<uint64_t>((std::min(when.end, t) - when.start).ns);
  return edge;
}

Lane::Longest Lane::Longer(Longest a, Longest b) const {
  if (a.took != b.took) return a.took > b.took ? a : b;
  if (a.took == kWide && Length(a.place) != Length(b.place)) {
    return Length(a.place) > Length(b.place) ? a : b;
  }
  return a.place < b.place ? a : b;
}

// The longest of `best` and the slices [first, last), which are in one block.
Lane::Longest Lane::LongestIn(size_t first, size_t last, Longest best) const {
  if (first >= last) return best;
  const size_t begin = first / kBlock * kBlock;
  const std::array<uint32_t, kBlock>& took = BlockOf(first).took;
  uint32_t most = 0;
  for (size_t i = first - begin; i < last - begin; ++i) most = std::max(most, took[i]);
  if (most < best.took) return best;
  for (size_t i = first - begin; i < last - begin; ++i) {
    if (took[i] != most) continue;
    best = Longer(best, {static_cast<uint32_t>(begin + i), most});
    if (most < kWide) break;  // the other slices of this length come later
  }
  return best;
}

uint32_t Lane::LongestOf(size_t first, size_t last) const {
  Longest best{static_cast<uint32_t>(first), BlockOf(first).took[first % kBlock]};
  // The whole blocks between `first` and `last`.
  size_t block = (first + kBlock - 1) / kBlock, end = last / kBlock;
  best = LongestIn(first, std::min(block * kBlock, last), best);
  best = LongestIn(std::max(end * kBlock, std::min(block * kBlock, last)), last, best);
  for (size_t level = 0; block < end; ++level) {
    while (block < end && block % kFanOut != 0) best = Longer(best, longest_[level][block++]);
    while (block < end && end % kFanOut != 0) best = Longer(best, longest_[level][--end]);
    block /= kFanOut;
    end /= kFanOut;
  }
  return best.place;
}

Bucket Lane::Between(const Edge& left, const Edge& right) const {
  const size_t first = left.next - (left.open ? 1 : 0);
  Bucket bucket;
  if (first == right.next) return bucket;
  bucket.count = static_cast<uint32_t>(right.next - first);
  bucket.longest = LongestOf(first, right.next);
  bucket.color = ColorOf(bucket.longest);
  uint64_t most = 0;
  for (size_t color = 0; color < kColors; ++color) {
    const uint64_t time = right.before[color] - left.before[color];
    bucket.busy_ns += time;
    if (time <= most) continue;
    most = time;
    bucket.color = static_cast<uint8_t>(color);
  }
  return bucket;
}

void Lane::Fold(TimeNs start, DurationNs width, std::span<Bucket> columns) const {
  constexpr size_t kAhead = 12;  // columns to prefetch ahead
  const auto end_of = [&](TimeNs t) { return TimeNs{AddSaturated(t.ns, width.ns)}; };
  std::array<size_t, kAhead> blocks{};  // ring buffer: the blocks of the next kAhead column edges
  TimeNs ahead = start;
  size_t block = 0;
  const auto look_ahead = [&](size_t edge) {
    block = LastBlockBefore(ahead, block);
    ahead = end_of(ahead);
    if (block < blocks_.size()) Prefetch(&blocks_[block], sizeof(Block));
    blocks[edge % kAhead] = block;
  };
  for (size_t edge = 0; edge < kAhead; ++edge) look_ahead(edge);
  Edge left = EdgeAt(start, blocks[0]);
  for (size_t i = 0; i < columns.size(); ++i) {
    look_ahead(i + kAhead);
    start = end_of(start);
    const Edge right = EdgeAt(start, blocks[(i + 1) % kAhead]);
    columns[i] = Between(left, right);
    left = right;
  }
}

}  // namespace tacho
