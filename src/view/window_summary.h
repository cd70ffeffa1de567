#pragma once

#include <optional>
#include <string>
#include <vector>

#include "view/slice_detail.h"

namespace tacho {

// A selection on the page: a window of the run's time, in all ranks or one, in all rows or some.
struct Selection {
  Interval window;
  std::optional<uint32_t> rank = {};
  std::vector<uint32_t> rows = {};  // empty: all rows with slices of the trace

  [[nodiscard]] bool Has(uint32_t of_rank) const { return !rank || *rank == of_rank; }
};

// Slices of one name, kind and table in a window. An annotation on the host and its copy on the
// device count separately. The time of a slice inside another one counts in both.
struct WindowName {
  std::string_view name, short_name;  // in full; as tiles show it
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
// (IdleCauseId); "not-told": time between its first and its last work without recorded work, but
// idle time is unknown because work is missing (IdleTable::known); "unrecorded": time in which its
// work was not recorded (RankRows::recorded); "outside": any other time before its first and after
// its last work. The causes of a device add up to the window exactly. If "not-told" occurs, "busy"
// is a lower bound. A device whose times are unknown has no entry.
struct WindowIdle {
  uint32_t rank = 0;
  std::string device;
  std::string_view cause;
  DurationNs total;
  uint64_t count = 0;  // stretches that touch the window
};
struct WindowSummary {
  // The `most_names` names that take longest, device work before all others; by total, longest
  // first, then name. `others`: the rest, by palette.
  std::vector<WindowName> names;
  std::vector<WindowOthers> others;
  std::vector<WindowColor> colors;  // of all names, by palette and color
  size_t steps = 0;                 // steps that touch the window
  std::vector<WindowIdle> idle;     // by rank, then device; does not depend on the selected rows
};
// Covers the ranks that have figures (UntoldFigures::all). Cost: O(slices in the window).
WindowSummary SummarizeWindow(const ReadRanks& ranks, const Selection& selection,
                              size_t most_names = 2000);

}  // namespace tacho
