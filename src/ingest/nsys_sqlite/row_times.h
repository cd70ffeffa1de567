#pragma once

#include <cstdint>
#include <optional>

#include "ingest/nsys_sqlite/table_scan.h"
#include "model/notes.h"

namespace tacho::nsys {

inline constexpr int64_t kFarthest = INT64_MAX / 4;  // sums of times beyond this would overflow
// 28 h, the same as for Kineto's traces.
inline constexpr int64_t kLongestDuration = 100'000'000'000'000;

struct RowTimes {
  int64_t start = 0, duration = 0;  // ns
};
// What a row without an end gives. kMissing: a length of 0. kNeeded: a length of 0, and a note.
// kRequired: no times, and a note.
enum class End : uint8_t { kMissing, kNeeded, kRequired };

// The times of a row whose columns 0 and 1 are start and end. nullopt if no table can hold them.
// Calls note(id) for each defect of the times.
template <typename Note>
std::optional<RowTimes> TimesOfRow(const TableScan& row, End need, const Note& note) {
  const std::optional<int64_t> start = row.Maybe(0);
  std::optional<int64_t> end = row.Maybe(1);
  if (!start || *start > kFarthest || *start < -kFarthest) {
    note(NoteId::kBadTime);
    return std::nullopt;
  }
  if (!end) {
    if (need != End::kMissing) note(NoteId::kMissingDuration);
    if (need == End::kRequired) return std::nullopt;
    end = start;
  }
  if (*end < *start) {
    note(NoteId::kNegativeDuration);
    end = start;
  }
  if (*end > kFarthest || *end - *start > kLongestDuration) {
    note(NoteId::kBadTime);
    return std::nullopt;
  }
  return RowTimes{*start, *end - *start};
}

}  // namespace tacho::nsys
