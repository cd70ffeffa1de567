#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "view/lane.h"

namespace tacho {

// What the page draws of one window: bytes that it reads through typed arrays (little endian, every
// part aligned to 8 bytes):
//
//   header          u32 magic "tile", u16 version, u16 lanes
//   for each lane   u32 row and u32 lane (as asked), u8 mode, 7 bytes 0, u32 number of entries,
//                   u32 offset of the entries
//   mode 0          one entry for each column with a slice, 16 bytes: u16 column, u8 color,
//                   u8 coverage, u32 count of slices, u32 place and u32 name of the longest slice
//   mode 1          one entry for each slice that touches the window, 32 bytes: f64 start and
//                   f64 duration (ns; the start counts from the window's start), u32 place,
//                   u32 name, u8 color, 7 bytes 0
//
// Names are ids in the rank's RankNames. Coverage is busy / width from 0 to 255; only an exact 0
// gives 0, and only an exact 1 gives 255. A lane has mode 1 if its slices in the window are not
// more than the columns. Times are exact up to 2^53 ns from the window's start.
inline constexpr uint32_t kTileMagic = 0x656c6974;  // "tile"
inline constexpr uint16_t kTileVersion = 2;
inline constexpr size_t kMostColumns = 8192, kMostLanes = 512;

struct TileWindow {
  TimeNs start;
  DurationNs width;    // width of a column, > 0
  size_t columns = 0;  // at most kMostColumns
};
struct TileLane {
  // As the page asked for it: row, and number of the lane in that row.
  uint32_t row = 0, number = 0;
  const Lane* lane = nullptr;
};
// `lanes`: at most kMostLanes. `threads`: how many threads may share the lanes if there is much to
// do; 0: one for each core. Cost: that of Lane::Fold for each lane; at most 32 bytes for each
// column of each lane.
std::string EncodeTiles(std::span<const TileLane> lanes, const TileWindow& window,
                        size_t threads = 0);

}  // namespace tacho
