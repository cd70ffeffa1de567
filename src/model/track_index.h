#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "model/trace.h"

namespace tacho {

// A list of rows of a table. It is either a span that it does not own, or a run of consecutive rows
// n, n + 1, n + 2, ...
class RowList {
 public:
  RowList() = default;
  explicit RowList(std::span<const uint32_t> rows) : rows_(rows.data()), size_(rows.size()) {}
  RowList(uint32_t first, size_t size) : first_(first), size_(size) {}

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] uint32_t operator[](size_t i) const {
    return rows_ != nullptr ? rows_[i] : first_ + static_cast<uint32_t>(i);
  }

 private:
  const uint32_t* rows_ = nullptr;  // null: consecutive rows from first_ on
  uint32_t first_ = 0;
  size_t size_ = 0;
};

// Whether `a` sorts before `b`, with outer slices before the slices inside them.
inline bool IsOuter(Interval a, Interval b) {
  return a.start != b.start ? a.start < b.start : a.end > b.end;
}

// The rows of one table, split into lanes and sorted by time in each lane. A lane is a track or,
// for GPU work, a stream. Rows are sorted by
//   for GPU work:        (start, end, row)
//   for all other rows:  (start, -end); then, for operators, External id (PyTorch numbers operators
//                        as they begin; those without an id come last); then row.
// So a nested slice comes after the slice around it.
class LaneRows {
 public:
  enum class Order : uint8_t { kOuterFirst, kShorterFirst };
  // `lane_of`: the lane of each row, less than `lanes`. `operator_ids`: External ids by row, or
  // null. Keeps references to `table` and `operator_ids`. Cost: O(n) if the rows of each lane are
  // nearly sorted in the file, as they usually are. A lane that is not takes O(n log n). Memory: a
  // quarter of a byte for each row, and 4 more bytes for each row of a lane whose rows do not
  // follow each other in the file.
  template <typename LaneId>
  LaneRows(const SliceTable& table, const Column<LaneId>& lane_of, size_t lanes, Order order,
           const NarrowColumn* operator_ids = nullptr)
      : table_(&table), operator_ids_(operator_ids), order_(order), lanes_(lanes) {
    Split(lane_of);
    for (Lane& lane : lanes_) Arrange(lane);
  }

  [[nodiscard]] const SliceTable& table() const { return *table_; }
  [[nodiscard]] size_t lanes() const { return lanes_.size(); }
  [[nodiscard]] RowList Of(size_t lane) const { return ListOf(lanes_[lane]); }
  // The index in Of(lane) of the first row that starts at `t` or later; the number of rows if there
  // is none. Cost: O(log n).
  [[nodiscard]] size_t FirstFrom(size_t lane, TimeNs t) const;

  // Calls visit(index in Of(lane), row) for the rows of a lane that start in `when`, or started
  // before it and are still open when it begins (start < when.start < end), in the order of
  // Of(lane). Rows without a duration count at their start. Cost: O((k + 1) log n) for k rows;
  // reading the rows that start in `when` is a plain loop.
  template <typename Visit>
  void ForEachIn(size_t lane, Interval when, Visit visit) const {
    const RowList rows = Of(lane);
    const size_t inside = FirstFrom(lane, when.start);
    for (size_t i = NextOpen(lanes_[lane], 0, inside, when.start); i < inside;
         i = NextOpen(lanes_[lane], i + 1, inside, when.start)) {
      visit(i, rows[i]);
    }
    for (size_t i = inside; i < rows.size() && table_->start[rows[i]] < when.end; ++i) {
      visit(i, rows[i]);
    }
  }

  [[nodiscard]] size_t MemoryBytes() const;

 private:
  // latest_ holds for each lane the latest end of the rows in each block of kBlock rows, then in
  // each group of kBlock such blocks, and so on, until one block covers all.
  static constexpr size_t kBlockShift = 5, kBlock = size_t{1} << kBlockShift;
  static constexpr uint32_t kInPlace = 0xffffffff;

  struct Lane {
    uint32_t size = 0;
    uint32_t first = 0, last = 0;  // first and last row in the file
    // Where its list begins in rows_; kInPlace: consecutive rows from `first` on.
    uint32_t rows = kInPlace;
    uint32_t latest = 0;  // where its blocks begin in latest_
  };

  template <typename LaneId>
  void Split(const Column<LaneId>& lane_of) {
    for (uint32_t row = 0; row < lane_of.size();) {
      Lane& lane = lanes_[Index(lane_of[row])];
      if (lane.size == 0) lane.first = row;
      const LaneId of_run = lane_of[row];
      const uint32_t begin = row;
      while (row < lane_of.size() && lane_of[row] == of_run) ++row;
      lane.size += row - begin;
      lane.last = row - 1;
    }
    size_t listed = 0;
    for (Lane& lane : lanes_) {
      if (lane.size == 0 || lane.last - lane.first + 1 == lane.size) continue;
      lane.rows = static_cast<uint32_t>(listed);
      listed += lane.size;
    }
    if (listed == 0) return;
    rows_.resize(listed);
    std::vector<uint32_t> next;  // indexed by lane
    for (const Lane& lane : lanes_) next.push_back(lane.rows);
    for (uint32_t row = 0; row < lane_of.size(); ++row) {
      uint32_t& to = next[Index(lane_of[row])];
      if (to != kInPlace) rows_[to++] = row;
    }
  }

  [[nodiscard]] RowList ListOf(const Lane& lane) const {
    if (lane.rows == kInPlace) return {lane.first, lane.size};
    return RowList(std::span(rows_).subspan(lane.rows, lane.size));
  }
  // Whether row `a` comes before row `b`.
  [[nodiscard]] bool ComesBefore(uint32_t a, uint32_t b) const;
  void Arrange(Lane& lane);
  void Sort(std::span<uint32_t> rows) const;
  // Appends to latest_ the latest end of the rows in each block of a lane. Returns false if the
  // lane is not sorted; then only some of the ends are appended.
  bool FindLatest(const Lane& lane);
  // The first index in [at, end) whose row ends after `t`; `end` if there is none.
  [[nodiscard]] size_t NextOpen(const Lane& lane, size_t at, size_t end, TimeNs t) const;

  const SliceTable* table_;
  const NarrowColumn* operator_ids_;
  Order order_;
  std::vector<Lane> lanes_;
  std::vector<uint32_t> rows_;
  std::vector<TimeNs> latest_;
};

// The rows of a trace sorted by time on each track. It is built once and shared by all analyses and
// views that sort or nest rows or look them up by time. Immutable. Refers to its trace, which must
// outlive it. Cost: one pass over each table; see LaneRows.
class TrackIndex {
 public:
  // `threads`: how many tables are indexed in parallel.
  explicit TrackIndex(const Trace& trace, size_t threads = 1);

  [[nodiscard]] const Trace& trace() const { return *trace_; }
  [[nodiscard]] const LaneRows& gpu() const { return tables_[kGpu]; }  // by StreamId
  // By TrackId:
  [[nodiscard]] const LaneRows& python_frames() const { return tables_[kPythonFrames]; }
  [[nodiscard]] const LaneRows& host_ops() const { return tables_[kHostOps]; }
  [[nodiscard]] const LaneRows& host_calls() const { return tables_[kHostCalls]; }
  [[nodiscard]] const LaneRows& annotations() const { return tables_[kAnnotations]; }
  [[nodiscard]] const LaneRows& gpu_annotations() const { return tables_[kGpuAnnotations]; }
  [[nodiscard]] const LaneRows& others() const { return tables_[kOthers]; }

  [[nodiscard]] size_t MemoryBytes() const;

 private:
  // Large tables come first, because threads take the tables in this order.
  enum : size_t {
    kGpu,
    kPythonFrames,
    kHostOps,
    kHostCalls,
    kAnnotations,
    kGpuAnnotations,
    kOthers,
    kTables
  };
  const Trace* trace_;
  std::vector<LaneRows> tables_;
};

}  // namespace tacho
