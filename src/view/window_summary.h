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
  // Empty: all rows that show slices of the trace (no computed rows).
  std::vector<uint32_t> rows = {};

  [[nodiscard]] bool Has(uint32_t of_rank) const { return !rank || *rank == of_rank; }
};

// The slices in a window that have the same name, kind and table. So an annotation on the host and
// its copy on the device are two entries. The time of a slice inside another one counts in both.
struct WindowName {
  std::string_view name, short_name;  // the whole name; the name that tiles show
  DrawnKind kind = DrawnKind::kOther;
  Palette palette = Palette::kHost;
  uint8_t color = 0;
  uint64_t count = 0;  // slices that touch the window
  DurationNs total;    // sum of their parts inside the window
  PlacedSlice longest;
};
// The names that are not listed, added up for each palette.
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
// How much of a device's time in a window has one cause. Causes are: "busy"; a cause of idle time
// (IdleCauseId); "not-told": between the device's first and last work nothing is recorded, but work
// may be missing there (IdleTable::known is false); "unrecorded": work was not being recorded
// (RankRows::recorded); "outside": other time before the device's first or after its last work. The
// causes of a device add up to the window exactly. If "not-told" occurs, "busy" is a lower bound. A
// device whose times are unknown has no entry.
struct WindowIdle {
  uint32_t rank = 0;
  std::string device;
  std::string_view cause;
  DurationNs total;
  uint64_t count = 0;  // how many such times touch the window
};
struct WindowSummary {
  // The `most_names` names that take longest, sorted by total time, longest first, then by name. If
  // there are more names, device work is kept before all others. `others`: the remaining names, by
  // palette.
  std::vector<WindowName> names;
  std::vector<WindowOthers> others;
  std::vector<WindowColor> colors;  // the time of all names, by palette and colour
  size_t steps = 0;                 // steps that touch the window
  std::vector<WindowIdle> idle;  // by rank, then by device; of all rows, whatever rows are selected
};
// Covers the ranks that have figures (UntoldFigures::all). Cost: O(slices in the window).
WindowSummary SummarizeWindow(const ReadRanks& ranks, const Selection& selection,
                              size_t most_names = 2000);

}  // namespace tacho
