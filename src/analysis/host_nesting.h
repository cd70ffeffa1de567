#pragma once

#include <span>
#include <vector>

#include "analysis/ops.h"

namespace tacho {

// One slice of a host track.
struct HostSlice {
  Interval when;
  SliceKind kind;
  uint32_t row;  // in the table of its kind
  TrackId track;
};

// Outer slices come first.
inline bool IsOuter(Interval a, Interval b) {
  return a.start != b.start ? a.start < b.start : a.end > b.end;
}

// Whether the first of two operators on one track holds the second.
inline bool IsOuterOp(const HostOpTable& ops, uint32_t a, uint32_t b) {
  const Interval x = ops.When(a), y = ops.When(b);
  if (x != y) return IsOuter(x, y);
  const int64_t id_a = ops.external_id[a], id_b = ops.external_id[b];
  return id_a != id_b && id_a > 0 && (id_b <= 0 || id_a < id_b);
}

// The rows of one table, track by track, each in the order of (start, -end), then of operators'
// External ids (PyTorch counts them up as operators begin), then of the file.
// Cost: two passes over the tracks and one over the times when the file has that order, as is
// usual, else a sort; 4 bytes a row.
class HostRows {
 public:
  // Only rows that `keep` accepts, a function of a row.
  template <typename Keep>
  HostRows(SliceKind kind, const SliceTable& table, size_t tracks, Keep keep)
      : kind_(kind), table_(&table), begin_(tracks + 1) {
    rows_.reserve(table.size());  // pages that stay empty cost nothing
    for (uint32_t row = 0; row < table.size(); ++row) {
      if (!keep(row)) continue;
      rows_.push_back(row);
      ++begin_[Index(table.track[row]) + 1];
    }
    SortByTrack();
    SortByTime();
  }

  [[nodiscard]] SliceKind kind() const { return kind_; }
  [[nodiscard]] const SliceTable& table() const { return *table_; }
  [[nodiscard]] size_t tracks() const { return begin_.size() - 1; }
  [[nodiscard]] std::span<const uint32_t> Of(size_t track) const {
    return std::span(rows_).subspan(begin_[track], begin_[track + 1] - begin_[track]);
  }

 private:
  void SortByTrack();
  void SortByTime();

  SliceKind kind_;
  const SliceTable* table_;
  std::vector<uint32_t> rows_;
  std::vector<uint32_t> begin_;  // by track, and one more at the end; first: counts
};

// The host slices of a trace, table by table; of equal intervals the one of the table in front is
// the outer one. The file's order among the tables is not kept; equal intervals nest as programs
// do: a frame holds annotations, these hold operators, and those hold calls. `keep`, a function of
// (kind, table, row), may leave slices out.
template <typename Keep>
std::vector<HostRows> CollectHostRows(const Trace& trace, bool python_frames, Keep keep) {
  std::vector<HostRows> tables;
  const auto add = [&](SliceKind kind, const SliceTable& table) {
    tables.emplace_back(kind, table, trace.words.tracks().size(),
                        [&](uint32_t row) { return keep(kind, table, row); });
  };
  if (python_frames) add(SliceKind::kPythonFrame, trace.python_frames);
  add(SliceKind::kAnnotation, trace.annotations);
  add(SliceKind::kHostOp, trace.host_ops);
  add(SliceKind::kHostCall, trace.host_calls);
  return tables;
}

// Walks all slices in the order of the tree: by track, parents before their children. A slice is
// the child of the last one that is still open and ends no earlier. `visit` gets each slice and
// what it returned for its parent (`no_parent` where there is none). Cost: O(n), and nothing is
// kept but the open slices.
template <typename Mark, typename Visit>
void WalkHostSlices(const std::vector<HostRows>& tables, Mark no_parent, Visit visit) {
  struct Head {
    Interval when;  // of the next row
    const HostRows* rows;
    std::span<const uint32_t> left;  // the next row in front
  };
  struct Open {
    TimeNs end;
    Mark mark;
  };
  std::vector<Head> heads;
  std::vector<Open> open;
  for (size_t track = 0; !tables.empty() && track < tables.front().tracks(); ++track) {
    for (const HostRows& rows : tables) {
      const auto all = rows.Of(track);
      if (!all.empty()) heads.push_back({rows.table().When(all.front()), &rows, all});
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
      const HostSlice slice{when, head.rows->kind(), head.left.front(),
                            static_cast<TrackId>(track)};
      open.push_back({when.end, visit(slice, open.empty() ? no_parent : open.back().mark)});
      head.left = head.left.subspan(1);
      if (head.left.empty()) {
        heads.erase(heads.begin() + static_cast<std::ptrdiff_t>(next));
      } else {
        head.when = head.rows->table().When(head.left.front());
      }
    }
  }
}

// The tree of `tables`, kept.
HostTree NestHostSlices(const Trace& trace, const std::vector<HostRows>& tables);

}  // namespace tacho
