#include "view/tiles.h"

#include <gtest/gtest.h>

#include <cstring>

#include "view/lane_for_test.h"

namespace tacho {
namespace {

// Reads bytes at fixed offsets, as the page does.
class Bytes {
 public:
  explicit Bytes(std::string bytes) : bytes_(std::move(bytes)) {}
  template <typename T>
  [[nodiscard]] T At(size_t offset) const {
    T value;
    EXPECT_LE(offset + sizeof value, bytes_.size());
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  [[nodiscard]] size_t size() const { return bytes_.size(); }

 private:
  std::string bytes_;
};

TEST(Tiles, ManySlicesComeAsBuckets) {
  Drawn drawn = RandomSlices(3, 4000);
  const Lane lane = drawn.lane();
  const TileWindow window{{100}, {400}, 50};
  const std::vector<TileLane> lanes{{100'000, 70'000, &lane}};
  const Bytes bytes(EncodeTiles(lanes, window));
  EXPECT_EQ(bytes.At<uint32_t>(0), kTileMagic);
  EXPECT_EQ(bytes.At<uint16_t>(4), kTileVersion);
  EXPECT_EQ(bytes.At<uint16_t>(6), 1);
  EXPECT_EQ(bytes.At<uint32_t>(8), 100'000u);
  EXPECT_EQ(bytes.At<uint32_t>(12), 70'000u);
  EXPECT_EQ(bytes.At<uint8_t>(16), 0);
  std::vector<Bucket> columns(window.columns);
  lane.Fold(window.start, window.width, columns);
  size_t at = bytes.At<uint32_t>(28), entries = 0;
  EXPECT_EQ(at, 32u);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].count == 0) continue;
    EXPECT_EQ(bytes.At<uint16_t>(at), i);
    EXPECT_EQ(bytes.At<uint8_t>(at + 2), columns[i].color);
    const uint8_t coverage = bytes.At<uint8_t>(at + 3);
    EXPECT_EQ(coverage == 0, columns[i].busy_ns == 0);
    EXPECT_EQ(coverage == 255, columns[i].busy_ns == 400);
    EXPECT_NEAR(coverage / 255.0, static_cast<double>(columns[i].busy_ns) / 400, 1 / 200.0);
    EXPECT_EQ(bytes.At<uint32_t>(at + 4), columns[i].count);
    EXPECT_EQ(bytes.At<uint32_t>(at + 8), columns[i].longest);
    EXPECT_EQ(bytes.At<uint32_t>(at + 12), static_cast<uint32_t>(lane.Name(columns[i].longest)));
    at += 16;
    ++entries;
  }
  EXPECT_EQ(bytes.At<uint32_t>(24), entries);
  EXPECT_EQ(bytes.size(), at);
}

TEST(Tiles, FewSlicesComeExactly) {
  Drawn drawn = RandomSlices(4, 300);
  const Lane lane = drawn.lane();
  const TileWindow window{{0}, {10}, 64};
  const std::vector<TileLane> lanes{{0, 0, &lane}, {0, 1, &lane}};
  const Bytes bytes(EncodeTiles(lanes, window));
  const Lane::Places places = lane.In({{0}, {640}});
  for (const size_t head : {8u, 32u}) {
    EXPECT_EQ(bytes.At<uint8_t>(head + 8), 1);
    ASSERT_EQ(bytes.At<uint32_t>(head + 16), places.last - places.first);
    size_t at = bytes.At<uint32_t>(head + 20);
    EXPECT_EQ(at % 8, 0u);
    for (size_t i = places.first; i < places.last; ++i, at += 32) {
      EXPECT_EQ(bytes.At<double>(at), static_cast<double>(lane.When(i).start.ns));
      EXPECT_EQ(bytes.At<double>(at + 8), static_cast<double>(lane.When(i).length().ns));
      EXPECT_EQ(bytes.At<uint32_t>(at + 16), i);
      EXPECT_EQ(bytes.At<uint32_t>(at + 20), static_cast<uint32_t>(lane.Name(i)));
      EXPECT_EQ(bytes.At<uint8_t>(at + 24), lane.ColorOf(i));
    }
  }
}

TEST(Tiles, ThreadsMakeNoDifference) {
  Drawn drawn = RandomSlices(5, 5000);
  const Lane lane = drawn.lane();
  std::vector<TileLane> lanes;
  for (uint32_t i = 0; i < 50; ++i) lanes.push_back({i, 0, &lane});
  const TileWindow window{{0}, {16}, 2000};
  EXPECT_EQ(EncodeTiles(lanes, window, 1), EncodeTiles(lanes, window, 4));
}

TEST(Tiles, AnEmptyLane) {
  Drawn drawn({0});
  const Lane lane = drawn.lane();
  const std::vector<TileLane> lanes{{0, 0, &lane}};
  EXPECT_EQ(EncodeTiles(lanes, {{0}, {1}, 100}).size(), 32u);
}

}  // namespace
}  // namespace tacho
