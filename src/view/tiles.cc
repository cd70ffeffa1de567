#include "view/tiles.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/parallel.h"

namespace tacho {
namespace {

static_assert(std::endian::native == std::endian::little);

struct LaneHead {
  uint32_t row, lane;
  uint8_t mode, zero[7];
  uint32_t entries, offset;
};
struct BucketEntry {
  uint16_t column;
  uint8_t color, coverage;
  uint32_t count, place, name;
};
struct SliceEntry {
  double start, duration;
  uint32_t place, name;
  uint8_t color, zero[7];
};
static_assert(sizeof(LaneHead) == 24 && sizeof(BucketEntry) == 16 && sizeof(SliceEntry) == 32);

template <typename T>
void Append(std::string& bytes, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

uint8_t CoverageOf(uint64_t busy, DurationNs width) {
  const auto whole = static_cast<uint64_t>(width.ns);
  if (busy == 0) return 0;
  if (busy >= whole) return 255;
  const double share = static_cast<double>(busy) / static_cast<double>(whole);
  return static_cast<uint8_t>(1 + static_cast<int>(share * 253.999));
}

uint32_t AppendSlices(std::string& bytes, const Lane& lane, Lane::Places places, TimeNs origin) {
  for (size_t i = places.first; i < places.last; ++i) {
    const Interval when = lane.When(i);
    Append(bytes, SliceEntry{static_cast<double>((when.start - origin).ns),
                             static_cast<double>(when.length().ns),
                             static_cast<uint32_t>(i),
                             lane.NameId(i),
                             lane.ColorOf(i),
                             {}});
  }
  return static_cast<uint32_t>(places.last - places.first);
}

uint32_t AppendBuckets(std::string& bytes, const Lane& lane, const TileWindow& window) {
  std::vector<Bucket> columns(window.columns);
  lane.Fold(window.start, window.width, columns);
  // Names are far apart in memory, so they are prefetched early.
  constexpr size_t kAhead = 16;
  const auto each_ahead = [&](size_t i, auto prefetch) {
    if (i < columns.size() && columns[i].count > 0) prefetch(columns[i].longest);
  };
  uint32_t entries = 0;
  for (size_t i = 0; i < columns.size(); ++i) {
    each_ahead(i + 2 * kAhead, [&](size_t place) { lane.PrefetchSlice(place); });
    each_ahead(i + kAhead, [&](size_t place) { lane.PrefetchName(place); });
    const Bucket& bucket = columns[i];
    if (bucket.count == 0) continue;
    Append(bytes, BucketEntry{static_cast<uint16_t>(i), bucket.color,
                              CoverageOf(bucket.busy_ns, window.width), bucket.count,
                              bucket.longest, lane.NameId(bucket.longest)});
    ++entries;
  }
  return entries;
}

}  // namespace

std::string EncodeTiles(std::span<const TileLane> lanes, const TileWindow& window, size_t threads) {
  int64_t length = 0;
  if (__builtin_mul_overflow(window.width.ns, static_cast<int64_t>(window.columns), &length)) {
    length = std::numeric_limits<int64_t>::max();
  }
  const Interval whole{window.start, TimeNs{AddSaturated(window.start.ns, length)}};
  struct Part {
    LaneHead head;
    std::string entries;
  };
  std::vector<Part> parts(lanes.size());
  std::vector<size_t> folded;  // lanes with too many slices, whose columns are computed below
  for (size_t i = 0; i < lanes.size(); ++i) {
    const Lane& lane = *lanes[i].lane;
    const Lane::Places places = lane.In(whole);
    const bool exact = places.last - places.first <= window.columns;
    parts[i].head = {lanes[i].row, lanes[i].number, static_cast<uint8_t>(exact), {}, 0, 0};
    if (exact) {
      parts[i].head.entries = AppendSlices(parts[i].entries, lane, places, window.start);
    } else {
      folded.push_back(i);
    }
  }
  // Starting a thread costs as much as a thousand columns, so each thread must get many more.
  constexpr size_t kWorthAThread = 10'000;
  const size_t worth = std::max<size_t>(folded.size() * window.columns / kWorthAThread, 1);
  ParallelFor(folded.size(), std::min(threads == 0 ? CoreCount() : threads, worth), [&](size_t i) {
    Part& part = parts[folded[i]];
    part.head.entries = AppendBuckets(part.entries, *lanes[folded[i]].lane, window);
  });
  std::string bytes;
  Append(bytes, kTileMagic);
  Append(bytes, kTileVersion);
  Append(bytes, static_cast<uint16_t>(lanes.size()));
  size_t offset = bytes.size() + lanes.size() * sizeof(LaneHead);
  for (Part& part : parts) {
    part.head.offset = static_cast<uint32_t>(offset);
    Append(bytes, part.head);
    offset += part.entries.size();
  }
  bytes.reserve(offset);
  for (const Part& part : parts) bytes += part.entries;
  return bytes;
}

}  // namespace tacho
