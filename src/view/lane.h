#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/string_pool.h"
#include "model/trace.h"

namespace tacho {

// Slices by colour: an index into the palette of the row that draws them.
inline constexpr size_t kColors = 12;

// A table whose slices are drawn, with their names and the colour of each name. Must outlive the
// lanes.
struct DrawnTable {
  const SliceTable* slices = nullptr;
  const StringPool* names = nullptr;
  std::vector<uint8_t> color_of_name;         // by StringId; below kColors
  std::span<const uint32_t> id_of_name = {};  // by StringId: in the ids of the rank (RankNames)
};

// A slice of one of the tables that a lane draws from.
class SliceRef {
 public:
  static constexpr uint32_t kTables = 8, kMostRows = uint32_t{1} << 29;

  SliceRef(uint32_t table, uint32_t row) : bits_(table << 29 | row) {}
  [[nodiscard]] uint32_t table() const { return bits_ >> 29; }
  [[nodiscard]] uint32_t row() const { return bits_ & (kMostRows - 1); }
  bool operator==(const SliceRef&) const = default;

 private:
  uint32_t bits_;
};

// When a slice takes up its place. One without a duration takes up a nanosecond, so that two
// slices of a lane never start together.
inline TimeNs PlaceEnd(Interval when) { return std::max(when.end, when.start + DurationNs{1}); }

// What one column of pixels shows of a lane.
struct Bucket {
  uint32_t count = 0;    // slices that touch it
  uint32_t longest = 0;  // place in the lane of the longest of them, the first of equals
  uint64_t busy_ns = 0;  // exact: the union of the slices, cut at the edges
  uint8_t color = 0;     // that most of busy_ns has, the smallest of equals

  bool operator==(const Bucket&) const = default;
};

// One line of slices in the order of time, of which none overlaps another, so that the time that
// they take is a difference of two sums. It keeps such a sum at every 32nd slice, by colour, and
// the longest slice of every 32, 512, ... slices. Immutable.
//
// Memory: 4 bytes a slice and 3.4 for the sums, and some 400 bytes a lane. To build: O(n).
class Lane {
 public:
  // `slices`: sorted by start; each begins when the one before has ended (PlaceEnd), or later.
  Lane(std::span<const DrawnTable> tables, std::vector<SliceRef> slices);

  [[nodiscard]] size_t size() const { return slices_.size(); }
  [[nodiscard]] SliceRef operator[](size_t place) const { return slices_[place]; }
  [[nodiscard]] const DrawnTable& TableOf(size_t place) const {
    return tables_[slices_[place].table()];
  }
  [[nodiscard]] Interval When(size_t place) const {
    return TableOf(place).slices->When(slices_[place].row());
  }
  [[nodiscard]] StringId Name(size_t place) const {
    return TableOf(place).slices->name[slices_[place].row()];
  }
  // The id of its name among all names of the rank; the StringId where the table has none.
  [[nodiscard]] uint32_t NameId(size_t place) const {
    const auto name = static_cast<uint32_t>(Name(place));
    const std::span<const uint32_t> ids = TableOf(place).id_of_name;
    return ids.empty() ? name : ids[name];
  }
  [[nodiscard]] std::string_view NameText(size_t place) const {
    return TableOf(place).names->View(Name(place));
  }
  [[nodiscard]] uint8_t ColorOf(size_t place) const {
    return TableOf(place).color_of_name[static_cast<size_t>(Name(place))];
  }

  // The first slice that does not start before `t`; size() if all do. Cost: O(log n).
  [[nodiscard]] size_t FirstFrom(TimeNs t) const { return FirstFrom(t, 0); }
  // The places [first, last) of the slices that touch `when`; those without a duration count where
  // they start.
  struct Places {
    size_t first = 0, last = 0;
  };
  [[nodiscard]] Places In(Interval when) const;

  // Fills `columns`, each `width` > 0 wide, from `start` on. A column beyond the range of TimeNs is
  // empty. Cost: O(c (log d + 32)) for c columns and d slices a column.
  void Fold(TimeNs start, DurationNs width, std::span<Bucket> columns) const;

  // The time that all slices take.
  [[nodiscard]] uint64_t BusyNs() const;
  [[nodiscard]] size_t MemoryBytes() const;

 private:
  static constexpr size_t kBlock = 32, kFanOut = 16;
  using Sums = std::array<uint64_t, kColors>;  // modulo 2^64, as only differences count

  // What the slices of a column add up to.
  struct Pile {
    Sums sums{};
    uint32_t longest = 0;
    DurationNs most{-1};  // of the longest
  };

  [[nodiscard]] size_t FirstFrom(TimeNs t, size_t from) const;
  // Adds the part of a slice that is in `column`, or whole slices [first, last).
  void Add(size_t place, Interval column, Pile& pile) const;
  void AddWhole(size_t first, size_t last, Pile& pile) const;
  void LookFor(uint32_t place, Pile& pile) const;
  [[nodiscard]] uint32_t Longer(uint32_t a, uint32_t b) const;

  std::span<const DrawnTable> tables_;
  std::vector<SliceRef> slices_;
  std::vector<TimeNs> starts_;                  // of each block
  std::vector<Sums> sums_;                      // of all slices before each block, and of all
  std::vector<std::vector<uint32_t>> longest_;  // by level, then block: the place
};

}  // namespace tacho
