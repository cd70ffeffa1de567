#include "view/tiles.h"

#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

namespace tacho {
namespace {

static_assert(std::endian::native == std::endian::little);

struct LaneHead {
  uint32_t number;
  uint8_t mode, zero[3];
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
static_assert(sizeof(LaneHead) == 16 && sizeof(BucketEntry) == 16 && sizeof(SliceEntry) == 32);

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

uint32_t AppendBuckets(std::string& bytes, const Lane& lane, const TileWindow& window,
                       std::vector<Bucket>& columns) {
  columns.resize(window.columns);
  lane.Fold(window.start, window.width, columns);
  uint32_t entries = 0;
  for (size_t i = 0; i < columns.size(); ++i) {
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

std::string EncodeTiles(std::span<const TileLane> lanes, const TileWindow& window) {
  std::string bytes;
  Append(bytes, kTileMagic);
  Append(bytes, kTileVersion);
  Append(bytes, static_cast<uint16_t>(lanes.size()));
  const size_t heads = bytes.size();
  bytes.resize(heads + lanes.size() * sizeof(LaneHead));
  int64_t length = 0;
  if (__builtin_mul_overflow(window.width.ns, static_cast<int64_t>(window.columns), &length)) {
    length = std::numeric_limits<int64_t>::max();
  }
  const Interval whole{window.start, TimeNs{AddSaturated(window.start.ns, length)}};
  std::vector<Bucket> columns;
  for (size_t i = 0; i < lanes.size(); ++i) {
    const Lane& lane = *lanes[i].lane;
    const Lane::Places places = lane.In(whole);
    const bool exact = places.last - places.first <= window.columns;
    LaneHead head{
        lanes[i].number, static_cast<uint8_t>(exact), {}, 0, static_cast<uint32_t>(bytes.size())};
    head.entries = exact ? AppendSlices(bytes, lane, places, window.start)
                         : AppendBuckets(bytes, lane, window, columns);
    std::memcpy(bytes.data() + heads + i * sizeof head, &head, sizeof head);
  }
  return bytes;
}

}  // namespace tacho
