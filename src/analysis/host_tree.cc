#include <algorithm>
#include <array>
#include <utility>

#include "analysis/host_nesting.h"

namespace tacho {

void HostRows::SortByTrack() {
  const bool one_track = std::ranges::count_if(begin_, [](uint32_t n) { return n > 0; }) <= 1;
  for (size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  if (one_track) return;
  std::vector<uint32_t> sorted(rows_.size()), filled(begin_.begin(), begin_.end() - 1);
  for (const uint32_t row : rows_) sorted[filled[Index(table_->track[row])]++] = row;
  rows_ = std::move(sorted);
}

void HostRows::SortByTime() {
  const HostOpTable* const ops =
      kind_ == SliceKind::kHostOp ? static_cast<const HostOpTable*>(table_) : nullptr;
  const auto before = [&](uint32_t a, uint32_t b) {
    return ops != nullptr ? IsOuterOp(*ops, a, b) : IsOuter(table_->When(a), table_->When(b));
  };
  for (size_t track = 0; track < tracks(); ++track) {
    const std::span rows =
        std::span(rows_).subspan(begin_[track], begin_[track + 1] - begin_[track]);
    if (!std::ranges::is_sorted(rows, before)) std::ranges::stable_sort(rows, before);
  }
}

HostTree NestHostSlices(const Trace& trace, const std::vector<HostRows>& tables) {
  HostTree tree;
  tree.track_begin.assign(trace.words.tracks().size() + 1, 0);
  for (const HostRows& rows : tables) {
    for (size_t track = 0; track < rows.tracks(); ++track) {
      tree.track_begin[track + 1] += static_cast<uint32_t>(rows.Of(track).size());
    }
  }
  for (size_t i = 1; i < tree.track_begin.size(); ++i) {
    tree.track_begin[i] += tree.track_begin[i - 1];
  }
  std::array<const SliceTable*, static_cast<size_t>(SliceKind::kOther) + 1> table_of{};
  for (const HostRows& rows : tables) {
    table_of[static_cast<size_t>(rows.kind())] = &rows.table();
  }
  tree.nodes.reserve(tree.track_begin.back());
  WalkHostSlices(tables, int32_t{-1}, [&](const HostSlice& slice, int32_t parent) {
    tree.nodes.push_back({.when = slice.when,
                          .name = table_of[static_cast<size_t>(slice.kind)]->name[slice.row],
                          .track = slice.track,
                          .kind = slice.kind,
                          .row = slice.row,
                          .parent = parent});
    return static_cast<int32_t>(tree.nodes.size() - 1);
  });
  return tree;
}

HostTree BuildHostTree(const Trace& trace) {
  return NestHostSlices(trace, CollectHostRows(trace, false, [](auto&&...) { return true; }));
}

}  // namespace tacho
