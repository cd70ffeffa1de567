#pragma once

#include <span>
#include <utility>
#include <vector>

#include "model/track_index.h"

namespace tacho {

// One slice on the track of a host thread.
struct HostSlice {
  Interval when;
  SliceKind kind;
  uint32_t row;  // in the table of its kind
  TrackId track;
};

// Those rows of one table that take part in nesting, by track, in the order of the TrackIndex.
class HostRows {
 public:
  // All rows of the index, which must outlive this object.
  HostRows(SliceKind kind, const LaneRows& index) : kind_(kind), table_(&index.table()) {
    for (size_t track = 0; track < index.lanes(); ++track) lists_.push_back(index.Of(track));
  }
  // Only some rows of the index, sorted by track. `begin[track]`: where the rows of this track
  // begin in `rows`. `begin` has one more entry for the end of the last track.
  HostRows(SliceKind kind, const LaneRows& index, std::vector<uint32_t> rows,
           const std::vector<size_t>& begin)
      : kind_(kind), table_(&index.table()), rows_(std::move(rows)) {
    for (size_t track = 0; track + 1 < begin.size(); ++track) {
      lists_.emplace_back(
          std::span<const uint32_t>(rows_).subspan(begin[track], begin[track + 1] - begin[track]));
    }
  }
  HostRows(HostRows&&) = default;  // a copy's lists would point into its original
  HostRows& operator=(HostRows&&) = default;

  [[nodiscard]] SliceKind kind() const { return kind_; }
  [[nodiscard]] const SliceTable& table() const { return *table_; }
  [[nodiscard]] size_t tracks() const { return lists_.size(); }
  [[nodiscard]] const RowList& Of(size_t track) const { return lists_[track]; }

 private:
  SliceKind kind_;
  const SliceTable* table_;
  std::vector<uint32_t> rows_;
  std::vector<RowList> lists_;  // indexed by track
};

// Calls visit(kind, rows of the index) for each table whose slices nest, outermost kind first. If
// two slices have equal intervals, the slice of the earlier table is the outer one, because in
// programs Python frames contain annotations, annotations contain operators, and operators contain
// calls. The order of the rows in the file does not matter.
template <typename Visit>
void ForEachNestingTable(const TrackIndex& index, bool python_frames, Visit visit) {
  if (python_frames) visit(SliceKind::kPythonFrame, index.python_frames());
  visit(SliceKind::kAnnotation, index.annotations());
  visit(SliceKind::kHostOp, index.host_ops());
  visit(SliceKind::kHostCall, index.host_calls());
}

// All rows of these tables, as input for WalkHostSlices.
inline std::vector<HostRows> AllHostRows(const TrackIndex& index, bool python_frames) {
  std::vector<HostRows> tables;
  ForEachNestingTable(index, python_frames, [&](SliceKind kind, const LaneRows& rows) {
    tables.emplace_back(kind, rows);
  });
  return tables;
}

// Walks through all slices as a tree: track by track, parents before their children. The parent of
// a slice is the last slice that is still open and does not end before it. `visit` gets each slice
// and the value that it returned for its parent (`no_parent` if there is none). Cost: O(n). Stores
// only the open slices.
template <typename Mark, typename Visit>
void WalkHostSlices(const std::vector<HostRows>& tables, Mark no_parent, Visit visit) {
  struct Head {
    Interval when;  // interval of the next row
    const HostRows* rows;
    RowList list;
    size_t next;
  };
  struct Open {
    TimeNs end;
    Mark mark;
  };
  std::vector<Head> heads;
  std::vector<Open> open;
  for (size_t track = 0; !tables.empty() && track < tables.front().tracks(); ++track) {
    for (const HostRows& rows : tables) {
      const RowList& all = rows.Of(track);
      if (!all.empty()) heads.push_back({rows.table().When(all[0]), &rows, all, 0});
    }
    open.clear();
    while (!heads.empty()) {
      size_t next = 0;
      for (size_t i = 1; i < heads.size(); ++i) {
        if (IsOuter(heads[i].when, heads[next].when)) next = i;
      }
      Head& head = heads[next];
      const Interval when = head.when;
      while (!open.empty() && (when.start >= open.back().end || when.end > open.back().end)) {
        open.pop_back();
      }
      const HostSlice slice{when, head.rows->kind(), head.list[head.next],
                            static_cast<TrackId>(track)};
      open.push_back({when.end, visit(slice, open.empty() ? no_parent : open.back().mark)});
      if (++head.next == head.list.size()) {
        heads.erase(heads.begin() + static_cast<std::ptrdiff_t>(next));
      } else {
        head.when = head.rows->table().When(head.list[head.next]);
      }
    }
  }
}

}  // namespace tacho
