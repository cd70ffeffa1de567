#include "view/window_summary.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "view/selection.h"

namespace tacho {
namespace {

using NameKey = std::tuple<std::string_view, DrawnKind, DrawnFrom, Palette, uint8_t>;

bool IsComputed(const TimelineRow& row) { return row.group == RowGroup::kComputed; }

// Adds the names in those selected rows of a rank that use this palette.
void AddNames(const ReadRanks& ranks, uint32_t number, const Selection& selection, Palette palette,
              std::map<NameKey, WindowName>& names) {
  const ViewedRank& rank = *ranks[number];
  std::vector<const Lane*> lanes;
  std::vector<std::pair<uint32_t, uint32_t>> rows_and_lanes;
  std::vector<bool> is_chosen(rank.rows().size());
  for (const uint32_t row : selection.rows) {
    if (row < is_chosen.size()) is_chosen[row] = true;
  }
  for (uint32_t row = 0; row < rank.rows().size(); ++row) {
    const TimelineRow& of = rank.rows()[row];
    const bool is_selected = selection.rows.empty() ? !IsComputed(of) : is_chosen[row];
    if (of.palette != palette || !is_selected) continue;
    for (uint32_t lane = 0; lane < of.lanes.size(); ++lane) {
      lanes.push_back(&of.lanes[lane]);
      rows_and_lanes.emplace_back(row, lane);
    }
  }
  for (const NameTotal& total : TotalsByName(lanes, rank.ToTrace(selection.window))) {
    const auto [row, lane] = rows_and_lanes[total.lane];
    const auto longest = *SliceAt(ranks, {number, row, lane, static_cast<uint32_t>(total.place)});
    const SliceRef slice = (*lanes[total.lane])[total.place];
    const DrawnKind kind = KindOfSlice(rank, rank.rows()[row], slice);
    const auto from = static_cast<DrawnFrom>(slice.table());
    const auto [at, added] = names.try_emplace(
        NameKey{total.name, kind, from, palette, total.color},
        WindowName{total.name, longest.name, kind, palette, total.color, 0, {}, longest});
    WindowName& name = at->second;
    name.count += total.count;
    name.total += total.total;
    if (longest.when.length() > name.longest.when.length()) name.longest = longest;
  }
}

// From the start of a row's first slice to the end of its last. The row must have a slice.
Interval ExtentOf(const TimelineRow& row) {
  Interval extent = row.lanes.front().When(0);
  for (const Lane& lane : row.lanes) {
    extent.start = std::min(extent.start, lane.Start(0));
    extent.end = std::max(extent.end, lane.When(lane.size() - 1).end);
  }
  return extent;
}

// Adds how the device's time in the window splits by cause. `row` is the device's busy row, which
// must have a slice.
void AddIdle(const ViewedRank& rank, uint32_t number, const TimelineRow& row, Interval window,
             std::vector<WindowIdle>& idle) {
  DurationNs rest = window.length();
  const auto add = [&](std::string_view cause, DurationNs total, uint64_t count) {
    idle.push_back({number, row.owner, cause, total, count});
    rest -= total;
  };
  const auto add_lanes = [&](const TimelineRow& of) {
    for (const Lane& lane : of.lanes) {
      const Lane* const only = &lane;
      for (const NameTotal& total : TotalsByName({&only, 1}, window)) {
        add(total.name, total.total, total.count);
      }
    }
  };
  add_lanes(row);
  const uint32_t causes = rank.view().RowOf(RowKind::kIdle, row.owner);
  if (causes != RankRows::kNoRow) add_lanes(rank.rows()[causes]);
  const Interval inside = ExtentOf(row).Clip(window);
  if (!rank.view().untold().idle_time.empty()) {
    const DurationNs busy = window.length() - rest;
    if (!inside.empty() && inside.length() > busy) add("not-told", inside.length() - busy, 1);
  }
  const DurationNs unrecorded = window.length() - rank.view().recorded().Clip(window).length();
  if (unrecorded.ns > 0) add("unrecorded", std::min(unrecorded, rest), 1);
  if (rest.ns > 0) add("outside", rest, 1);
}

// Keeps `most` of the names, device work before all others. Returns the sums of the names that it
// removes.
std::vector<WindowOthers> CutNames(std::vector<WindowName>& names, size_t most) {
  std::map<Palette, WindowOthers> others;
  size_t room = most;
  const auto keep = [&](bool work) {
    std::erase_if(names, [&](const WindowName& name) {
      if ((name.palette == Palette::kWork) != work) return false;
      if (room > 0) {
        --room;
        return false;
      }
      WindowOthers& of = others[name.palette];
      of.palette = name.palette;
      ++of.names;
      of.count += name.count;
      of.total += name.total;
      of.longest = std::max(of.longest, name.longest.when.length());
      return true;
    });
  };
  keep(true);
  keep(false);
  std::vector<WindowOthers> list;
  for (const auto& [palette, of] : others) list.push_back(of);
  return list;
}

}  // namespace

WindowSummary SummarizeWindow(const ReadRanks& ranks, const Selection& selection,
                              size_t most_names) {
  WindowSummary summary;
  std::map<NameKey, WindowName> names;
  for (uint32_t number = 0; number < ranks.size(); ++number) {
    if (!ranks[number] || !selection.Has(number)) continue;
    const ViewedRank& rank = *ranks[number];
    if (!rank.view().untold().all.empty()) continue;
    const Interval window = rank.ToTrace(selection.window);
    for (const Palette palette : kAllPalettes) AddNames(ranks, number, selection, palette, names);
    for (const TimelineRow& row : rank.rows()) {
      // A busy row without a slice means that there is no device, or that its times are not shown.
      if (row.kind == RowKind::kBusy && row.slices() > 0)
        AddIdle(rank, number, row, window, summary.idle);
      if (row.kind != RowKind::kSteps) continue;
      for (const Lane& lane : row.lanes) {
        const Lane::Places places = lane.In(window);
        summary.steps += places.last - places.first;
      }
    }
  }
  std::map<std::pair<Palette, uint8_t>, DurationNs> colors;
  for (auto& [key, name] : names) {
    colors[{name.palette, name.color}] += name.total;
    summary.names.push_back(name);
  }
  std::ranges::stable_sort(summary.names, std::greater(), &WindowName::total);
  summary.others = CutNames(summary.names, most_names);
  for (const auto& [key, total] : colors) summary.colors.push_back({key.first, key.second, total});
  return summary;
}

}  // namespace tacho
