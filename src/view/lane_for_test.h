#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.h"
#include "view/lane.h"

namespace tacho {

// A table of slices that do not overlap, and what a lane needs to draw them.
struct Drawn {
  SliceTable table;
  std::vector<DrawnTable> tables;
  std::vector<SliceRef> refs;

  explicit Drawn(std::vector<uint8_t> color_of_name)
      : tables{{nullptr, nullptr, std::move(color_of_name)}} {}
  Lane lane() {
    tables.front().slices = &table;
    return {tables, refs};
  }
  void Add(int64_t start, int64_t duration, uint32_t name) {
    refs.emplace_back(0u, static_cast<uint32_t>(table.size()));
    table.start.push_back({start});
    table.duration.push_back(duration);
    table.name.push_back(static_cast<StringId>(name));
    table.track.push_back({});
    table.args.push_back({});
  }
};

// `count` random slices. All their times are multiples of `scale`.
inline Drawn RandomSlices(uint64_t seed, size_t count, int64_t scale = 1) {
  Random random(seed);
  Drawn drawn({3, 0, 7, 11, 3});
  int64_t at = static_cast<int64_t>(random.Below(1000)) - 500;
  for (size_t i = 0; i < count; ++i) {
    if (random.Below(3) == 0) at += static_cast<int64_t>(random.Below(40));
    const auto duration = static_cast<int64_t>(random.Below(random.Below(20) == 0 ? 3000 : 30));
    drawn.Add(at * scale, duration * scale, static_cast<uint32_t>(random.Below(5)));
    at += std::max<int64_t>(duration, 1);
  }
  return drawn;
}

}  // namespace tacho
