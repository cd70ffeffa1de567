#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/prefetch.h"
#include "base/string_pool.h"
#include "model/trace.h"

namespace tacho {

// The most colours that a palette may have. A slice's colour is an index into the palette of its
// row.
inline constexpr size_t kColors = 12;

// A table whose slices are drawn, with the names of the slices and a colour for each name. Must
// outlive the lanes that draw from it.
struct DrawnTable {
  const SliceTable* slices = nullptr;
  const StringPool* names = nullptr;
  // By StringId; each is below kColors; read only while lanes are built.
  std::vector<uint8_t> color_of_name;
  std::span<const uint32_t> id_of_name = {};      // by StringId: the name's id in RankNames
  std::span<const SliceKind> kind_of_slice = {};  // by row, if the table has several kinds
};

// A slice of one of the tables that a lane draws from.
class SliceRef {
 public:
  static constexpr uint32_t kTables = 16, kMostRows = uint32_t{1} << 28;

  SliceRef() = default;
  SliceRef(uint32_t table, uint32_t row) : bits_(table << 28 | row) {}
  [[nodiscard]] uint32_t table() const { return bits_ >> 28; }
  [[nodiscard]] uint32_t row() const { return bits_ & (kMostRows - 1); }
  bool operator==(const SliceRef&) const = default;

 private:
  uint32_t bits_ = 0;
};

// The end of the time that a slice occupies in its lane. A slice without a duration occupies a
// nanosecond, so that two slices of a lane never start together.
inline TimeNs PlaceEnd(Interval when) { return std::max(when.end, when.start + DurationNs{1}); }

// What one column of pixels shows: the slices of a lane in a short time.
struct Bucket {
  uint32_t count = 0;    // slices that touch it
  uint32_t longest = 0;  // index in the lane of the longest of them, the first of equals
  uint64_t busy_ns = 0;  // exact: the union of the slices, cut at the edges
  uint8_t color = 0;     // the colour with the most of busy_ns, the smallest of equals

  bool operator==(const Bucket&) const = default;
};

// One line of slices in the order of time. No slice overlaps another, so the slices' total time in
// a window is the difference of two prefix sums. A "place" is the index of a slice in its lane.
// Immutable.
//
// Drawing a screen of a large trace reads some thousand slices that no cache holds. So the reads
// for each slice must be few, close together and in few pages (on virtual machines, translating an
// address costs as much as a read). Therefore the lane keeps its own copy of the times, in blocks
// of 64 slices. Each block also has the total time of all slices before it, by colour. The longest
// slice in each group of 64, 1024, ... slices is kept too.
//
// Memory: 15 bytes a slice, in blocks of 64 slices, and some 200 bytes a lane. To build: O(n).
class Lane {
 public:
  // `slices`: sorted by start; each begins when the one before has ended (PlaceEnd), or later.
  Lane(std::span<const DrawnTable> tables, std::span<const SliceRef> slices);

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] SliceRef operator[](size_t place) const {
    return BlockOf(place).slice[place % kBlock];
  }
  [[nodiscard]] const DrawnTable& TableOf(size_t place) const {
    return tables_[(*this)[place].table()];
  }
  [[nodiscard]] TimeNs Start(size_t place) const {
    const uint32_t from = BlockOf(place).from[place % kBlock];
    return from < kWide ? starts_[place / kBlock] + DurationNs{from} : InTable(place).start;
  }
  [[nodiscard]] DurationNs Length(size_t place) const {
    const uint32_t took = BlockOf(place).took[place % kBlock];
    return took < kWide ? DurationNs{took} : InTable(place).length();
  }
  [[nodiscard]] Interval When(size_t place) const {
    const TimeNs start = Start(place);
    return {start, start + Length(place)};
  }
  [[nodiscard]] StringId Name(size_t place) const {
    return TableOf(place).slices->name[(*this)[place].row()];
  }
  // The id of the slice's name in RankNames; if the table has no such ids, the StringId.
  [[nodiscard]] uint32_t NameId(size_t place) const {
    const auto name = static_cast<uint32_t>(Name(place));
    const std::span<const uint32_t> ids = TableOf(place).id_of_name;
    return ids.empty() ? name : ids[name];
  }
  [[nodiscard]] std::string_view NameText(size_t place) const {
    return TableOf(place).names->View(Name(place));
  }
  // The kind of a slice, for a table that holds several kinds; 0 for a table of one kind.
  [[nodiscard]] size_t KindOf(size_t place) const {
    const std::span<const SliceKind> kinds = TableOf(place).kind_of_slice;
    return kinds.empty() ? 0 : static_cast<size_t>(kinds[(*this)[place].row()]);
  }
  [[nodiscard]] uint8_t ColorOf(size_t place) const { return BlockOf(place).color[place % kBlock]; }

  // Before reading the names of many places that are far apart, call PrefetchSlice for all of them,
  // then PrefetchName for all of them.
  void PrefetchSlice(size_t place) const {
    Prefetch(&BlockOf(place).slice[place % kBlock], sizeof(SliceRef));
  }
  void PrefetchName(size_t place) const {
    Prefetch(&TableOf(place).slices->name[(*this)[place].row()], sizeof(StringId));
  }

  // The first slice that does not start before `t`; size() if all do. Cost: O(log n).
  [[nodiscard]] size_t FirstFrom(TimeNs t) const { return FirstFrom(t, LastBlockBefore(t, 0)); }
  // The places [first, last) of the slices that touch `when`. A slice without a duration touches it
  // if it starts inside.
  struct Places {
    size_t first = 0, last = 0;
  };
  [[nodiscard]] Places In(Interval when) const;

  // Fills `columns`: the first begins at `start`, and each covers a time of `width` > 0. A column
  // beyond the range of TimeNs is empty. Cost: O(c (log d + 64)) for c columns and d slices a
  // column.
  void Fold(TimeNs start, DurationNs width, std::span<Bucket> columns) const;

  // The sum of the durations of all slices.
  [[nodiscard]] uint64_t BusyNs() const;
  [[nodiscard]] size_t MemoryBytes() const;

 private:
  static constexpr size_t kBlock = 64, kFanOut = 16;
  static constexpr uint32_t kWide = 0xffffffff;  // means: too large for 32 bits, read the table
  // Times by colour, in ns. A time may wrap at 2^64, because only differences of times are used.
  using Sums = std::array<uint64_t, kColors>;

  // All data of up to 64 slices, close together in memory.
  struct Block {
    Sums before;  // the time of all slices before this block, by colour
    // For each slice, in ns: its start, counted from the block's start, and its length.
    std::array<uint32_t, kBlock> from, took;
    std::array<uint8_t, kBlock> color;
    std::array<SliceRef, kBlock> slice;
  };
  // The longest slice of a group, the first of equals.
  struct Longest {
    uint32_t place = 0;
    uint32_t took = 0;
  };
  // What lies before a time `t`.
  struct Edge {
    size_t next = 0;    // the first slice that does not start before `t`
    bool open = false;  // whether the slice before `next` ends after `t`
    Sums before{};      // the time that slices take before `t`, by colour
  };

  [[nodiscard]] Interval InTable(size_t place) const {
    return TableOf(place).slices->When((*this)[place].row());
  }
  [[nodiscard]] const Block& BlockOf(size_t place) const { return blocks_[place / kBlock]; }
  // Among the blocks from `from` on, the last one that starts before `t`; `from` if none does.
  [[nodiscard]] size_t LastBlockBefore(TimeNs t, size_t from) const;
  [[nodiscard]] size_t FirstFrom(TimeNs t, size_t block) const;
  [[nodiscard]] Edge EdgeAt(TimeNs t, size_t block) const;
  [[nodiscard]] Bucket Between(const Edge& left, const Edge& right) const;
  [[nodiscard]] uint32_t LongestOf(size_t first, size_t last) const;
  [[nodiscard]] Longest Longer(Longest a, Longest b) const;
  [[nodiscard]] Longest LongestIn(size_t first, size_t last, Longest best) const;

  std::span<const DrawnTable> tables_;
  size_t size_ = 0;
  // By block; in a vector of its own, because searches read only these.
  std::vector<TimeNs> starts_;
  std::vector<Block> blocks_;
  Sums all_{};                                 // the time of all slices, by colour
  std::vector<std::vector<Longest>> longest_;  // by level, then by group
};

}  // namespace tacho
