#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "model/track_index.h"

namespace tacho {

// Walks through the rows of one stream in the order of (start, end, row).
class StreamRows {
 public:
  StreamRows(const LaneRows& gpu, size_t stream, uint32_t number)
      : gpu_(gpu.table()), rows_(gpu.Of(stream)), number_(number) {
    if (!rows_.empty()) when_ = gpu_.When(rows_[0]);
  }
  [[nodiscard]] bool done() const { return next_ == rows_.size(); }
  [[nodiscard]] uint32_t row() const { return rows_[next_]; }
  // The number that the caller gave to the stream.
  [[nodiscard]] uint32_t number() const { return number_; }
  [[nodiscard]] Interval when() const { return when_; }
  void Advance() {
    if (++next_ < rows_.size()) when_ = gpu_.When(rows_[next_]);
  }
  [[nodiscard]] bool IsBefore(const StreamRows& other) const {
    return std::tuple(when_.start, when_.end, row()) <
           std::tuple(other.when_.start, other.when_.end, other.row());
  }

 private:
  const SliceTable& gpu_;
  RowList rows_;
  uint32_t number_;
  size_t next_ = 0;
  Interval when_;
};

// Merges the streams of one device: calls `take` with the stream that has the next row, once for
// each row.
template <typename Take>
void MergeStreams(std::vector<StreamRows>& streams, Take take) {
  std::vector<StreamRows*> heads;  // a heap, the stream with the next row on top
  for (StreamRows& stream : streams) {
    if (!stream.done()) heads.push_back(&stream);
  }
  const auto later = [](const StreamRows* a, const StreamRows* b) { return b->IsBefore(*a); };
  std::ranges::make_heap(heads, later);
  while (!heads.empty()) {
    std::ranges::pop_heap(heads, later);
    StreamRows& next = *heads.back();
    // The next rows often come from the same stream.
    do {
      take(next);
      next.Advance();
    } while (!next.done() && (heads.size() == 1 || next.IsBefore(*heads.front())));
    if (next.done()) {
      heads.pop_back();
    } else {
      std::ranges::push_heap(heads, later);
    }
  }
}

}  // namespace tacho
