#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "model/trace.h"

namespace tacho {

// The rows of one stream in order of (start, end, row), taken one by one.
class StreamRows {
 public:
  StreamRows(const GpuTable& gpu, uint32_t stream, std::span<uint32_t> rows)
      : gpu_(gpu), stream_(stream), rows_(rows) {
    Sort();
    if (!rows_.empty()) when_ = gpu_.When(rows_.front());
  }
  [[nodiscard]] bool done() const { return next_ == rows_.size(); }
  [[nodiscard]] uint32_t row() const { return rows_[next_]; }
  [[nodiscard]] uint32_t stream() const { return stream_; }
  [[nodiscard]] Interval when() const { return when_; }
  void Advance() {
    if (++next_ < rows_.size()) when_ = gpu_.When(rows_[next_]);
  }
  [[nodiscard]] bool IsBefore(const StreamRows& other) const {
    return std::tuple(when_.start, when_.end, row()) <
           std::tuple(other.when_.start, other.when_.end, other.row());
  }

 private:
  // Profilers write the work of one stream in order, but for a few neighbours that overlap:
  // insertion takes one look at each row then. If there turn out to be many, all are sorted.
  void Sort() {
    const auto before = [&](uint32_t a, uint32_t b) {
      if (gpu_.start[a] != gpu_.start[b]) return gpu_.start[a] < gpu_.start[b];
      if (gpu_.duration[a] != gpu_.duration[b]) return gpu_.duration[a] < gpu_.duration[b];
      return a < b;
    };
    size_t moves = 0;
    for (size_t i = 1; i < rows_.size(); ++i) {
      const uint32_t row = rows_[i];
      size_t to = i;
      for (; to > 0 && before(row, rows_[to - 1]); --to, ++moves) {
        if (moves > 2 * rows_.size()) break;
        rows_[to] = rows_[to - 1];
      }
      rows_[to] = row;
      if (moves > 2 * rows_.size()) {
        std::ranges::sort(rows_, before);
        return;
      }
    }
  }

  const GpuTable& gpu_;
  uint32_t stream_;
  std::span<uint32_t> rows_;
  size_t next_ = 0;
  Interval when_;
};

// Merges the streams of one device: calls `take` with the stream whose row comes next, until all
// are done.
template <typename Take>
void MergeStreams(std::vector<StreamRows>& streams, Take take) {
  std::vector<StreamRows*> heads;  // a heap, the next row on top
  for (StreamRows& stream : streams) {
    if (!stream.done()) heads.push_back(&stream);
  }
  const auto later = [](const StreamRows* a, const StreamRows* b) { return b->IsBefore(*a); };
  std::ranges::make_heap(heads, later);
  while (!heads.empty()) {
    std::ranges::pop_heap(heads, later);
    StreamRows& next = *heads.back();
    // A stream often goes on for a while before another has something earlier.
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
