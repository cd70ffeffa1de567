#include "model/track_index.h"

#include <array>
#include <optional>
#include <utility>

#include "base/parallel.h"

namespace tacho {

bool LaneRows::ComesBefore(uint32_t a, uint32_t b) const {
  const Interval x = table_->When(a), y = table_->When(b);
  if (x != y) {
    if (order_ == Order::kOuterFirst) return IsOuter(x, y);
    return x.start != y.start ? x.start < y.start : x.end < y.end;
  }
  if (operator_ids_ != nullptr) {
    const int64_t id_a = (*operator_ids_)[a], id_b = (*operator_ids_)[b];
    if (id_a != id_b && (id_a > 0 || id_b > 0)) return id_a > 0 && (id_b <= 0 || id_a < id_b);
  }
  return a < b;
}

void LaneRows::Arrange(Lane& lane) {
  if (lane.size == 0) return;
  lane.latest = static_cast<uint32_t>(latest_.size());
  if (!FindLatest(lane)) {
    latest_.resize(lane.latest);
    if (lane.rows == kInPlace) {
      lane.rows = static_cast<uint32_t>(rows_.size());
      for (uint32_t row = lane.first; row <= lane.last; ++row) rows_.push_back(row);
    }
    Sort(std::span(rows_).subspan(lane.rows, lane.size));
    FindLatest(lane);
  }
  // Then groups of blocks, until one group covers the lane.
  for (size_t from = lane.latest, to = latest_.size(); to - from > 1;) {
    for (size_t begin = from; begin < to; begin += kBlock) {
      const auto block = std::span(latest_).subspan(begin, std::min(kBlock, to - begin));
      latest_.push_back(*std::ranges::max_element(block));
    }
    from = std::exchange(to, latest_.size());
  }
}

bool LaneRows::FindLatest(const Lane& lane) {
  const RowList rows = ListOf(lane);
  TimeNs before = table_->start[rows[0]];
  for (size_t begin = 0; begin < rows.size(); begin += kBlock) {
    TimeNs latest = before;
    for (size_t i = begin; i < std::min(begin + kBlock, rows.size()); ++i) {
      const Interval when = table_->When(rows[i]);
      const bool in_order = i == 0 || when.start > before ||
                            (when.start == before && !ComesBefore(rows[i], rows[i - 1]));
      if (!in_order) return false;
      before = when.start;
      latest = std::max(latest, when.end);
    }
    latest_.push_back(latest);
  }
  return true;
}

// Profilers write a lane nearly sorted: only a few neighbors are swapped, so insertion sort looks
// at each row about once. If many rows are out of order, all are sorted by std::ranges::sort.
void LaneRows::Sort(std::span<uint32_t> rows) const {
  const auto before = [&](uint32_t a, uint32_t b) { return ComesBefore(a, b); };
  size_t moves = 0;
  for (size_t i = 1; i < rows.size(); ++i) {
    const uint32_t row = rows[i];
    size_t to = i;
    for (; to > 0 && moves <= 2 * rows.size() && before(row, rows[to - 1]); --to, ++moves) {
      rows[to] = rows[to - 1];
    }
    rows[to] = row;
    if (moves > 2 * rows.size()) {
      std::ranges::sort(rows, before);
      return;
    }
  }
}

size_t LaneRows::FirstFrom(size_t lane, TimeNs t) const {
  const RowList rows = Of(lane);
  size_t begin = 0;
  for (size_t left = rows.size(); left > 0;) {
    const size_t half = left / 2;
    if (table_->start[rows[begin + half]] < t) {
      begin += half + 1;
      left -= half + 1;
    } else {
      left = half;
    }
  }
  return begin;
}

size_t LaneRows::NextOpen(const Lane& lane, size_t at, size_t end, TimeNs t) const {
  const RowList rows = ListOf(lane);
  while (at < end) {
    // Skips the largest block that begins at this index and whose rows all end by `t`.
    size_t skipped = 0, blocks = (lane.size + kBlock - 1) / kBlock, latest = lane.latest;
    for (size_t shift = kBlockShift; at % (size_t{1} << shift) == 0; shift += kBlockShift) {
      if (latest_[latest + (at >> shift)] > t) break;
      skipped = size_t{1} << shift;
      if (blocks == 1) break;
      latest += blocks;
      blocks = (blocks + kBlock - 1) / kBlock;
    }
    if (skipped > 0) {
      at += skipped;
    } else if (table_->When(rows[at]).end > t) {
      return at;
    } else {
      ++at;
    }
  }
  return end;
}

size_t LaneRows::MemoryBytes() const {
  return lanes_.capacity() * sizeof(Lane) + rows_.capacity() * sizeof(uint32_t) +
         latest_.capacity() * sizeof(TimeNs);
}

TrackIndex::TrackIndex(const Trace& trace, size_t threads) : trace_(&trace) {
  const std::array<const SliceTable*, kTables> slices{
      &trace.gpu,         &trace.python_frames,   &trace.host_ops, &trace.host_calls,
      &trace.annotations, &trace.gpu_annotations, &trace.others};
  std::array<std::optional<LaneRows>, kTables> tables;
  ParallelFor(kTables, threads, [&](size_t i) {
    if (i == kGpu) {
      tables[i].emplace(trace.gpu, trace.gpu.stream, trace.words.streams().size(),
                        LaneRows::Order::kShorterFirst);
    } else {
      tables[i].emplace(*slices[i], slices[i]->track, trace.words.tracks().size(),
                        LaneRows::Order::kOuterFirst,
                        i == kHostOps ? &trace.host_ops.external_id : nullptr);
    }
  });
  for (std::optional<LaneRows>& table : tables) tables_.push_back(std::move(*table));
}

size_t TrackIndex::MemoryBytes() const {
  size_t bytes = 0;
  for (const LaneRows& table : tables_) bytes += table.MemoryBytes();
  return bytes;
}

}  // namespace tacho
