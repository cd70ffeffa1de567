#pragma once

#include <optional>
#include <string>
#include <vector>

#include "view/slice_detail.h"

namespace tacho {

// What is looked at: a stretch of the run's time, of all ranks or of one, of all rows or of some.
struct Selection {
  Interval window;
  std::optional<uint32_t> rank = {};
  std::vector<uint32_t> rows = {};  // empty: all rows with slices of the trace

  [[nodiscard]] bool Has(uint32_t of_rank) const { return !rank || *rank == of_rank; }
};

// Slices of one name, kind and table in a window (a host annotation and the device's are two). A
// slice inside another one counts in both.
struct WindowName {
  std::string_view name, short_name;  // whole; as tiles show it
  DrawnKind kind = DrawnKind::kOther;
  Palette palette = Palette::kHost;
  uint8_t color = 0;
  uint64_t count = 0;  // slices that touch the window
  DurationNs total;    // of their parts inside it
  PlacedSlice longest;
};
// The names of a palette that are not listed.
struct WindowOthers {
  Palette palette = Palette::kHost;
  uint64_t names = 0, count = 0;
  DurationNs total, longest;
};
struct WindowColor {
  Palette palette = Palette::kHost;
  uint8_t color = 0;
  DurationNs total;
};
// How much of a device's time in a window has one cause. "busy"; a cause of idle time
// (IdleCauseId); "not-told": time between its first and its last work in which nothing that was
// recorded ran, but idle time is unknown because work is missing (IdleTable::known); "unrecorded":
// time before and after its work was recorded (RankRows::recorded); "outside": any other time
// before its first and after its last work. Those of a device add up to the window, exactly. If
// there is "not-told", "busy" is a lower bound. A device whose times are unknown has none.
struct WindowIdle {
  uint32_t rank = 0;
  std::string device;
  std::string_view cause;
  DurationNs total;
  uint64_t count = 0;  // stretches that touch the window
};
struct WindowSummary {
  // The `most_names` names that take longest, those of device work before all others; by total,
  // longest first, then name. `others`: the rest, by palette.
  std::vector<WindowName> names;
  std::vector<WindowOthers> others;
  std::vector<WindowColor> colors;  // of all names, by palette and color
  size_t steps = 0;                 // that touch the window
  std::vector<WindowIdle> idle;     // by rank, then device; whatever rows are selected
};
// Covers the ranks that have figures (UntoldFigures::all). Cost: O(slices in the window).
WindowSummary SummarizeWindow(const ReadRanks& ranks, const Selection& selection,
                              size_t most_names = 2000);

}  // namespace tacho
