#include "view/computed_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/interval_set.h"

namespace tacho {
namespace {

// When any of the items that `wanted` accepts runs.
template <typename Wanted>
IntervalSet UnionOf(const DeviceItems& device, Wanted wanted) {
  std::vector<Interval> intervals;
  for (const WorkItem& item : device.items) {
    if (wanted(item.kind)) intervals.push_back(item.when);
  }
  return IntervalSet(std::move(intervals));
}

std::string StepName(const Step& step) {
  const StepLabel& label = step.label;
  const int64_t tokens =
      std::max<int64_t>(label.context_tokens, 0) + std::max<int64_t>(label.generation_tokens, 0);
  if (tokens == 0) return std::string(PhaseName(label.phase));
  return fmt::format("{} {} token{}", PhaseName(label.phase), tokens, tokens == 1 ? "" : "s");
}

}  // namespace

uint32_t ComputedSlices::Add(Interval when, std::string_view name, uint8_t color) {
  const StringId id = names.Intern(name);
  color_of_name.resize(names.size());
  color_of_name[static_cast<size_t>(id)] = color;
  table.start.push_back(when.start);
  table.duration.push_back(when.length().ns);
  table.name.push_back(id);
  table.track.push_back({});
  table.args.push_back({});
  return static_cast<uint32_t>(table.size() - 1);
}

SliceTable MarksOf(const Trace& trace) {
  SliceTable marks;
  const auto add = [&](const auto& table, size_t i, TimeNs start, DurationNs duration) {
    marks.start.push_back(start);
    marks.duration.push_back(duration.ns);
    marks.name.push_back(table.name[i]);
    marks.track.push_back(table.track[i]);
    marks.args.push_back(table.args[i]);
  };
  for (size_t i = 0; i < trace.ranges.size(); ++i) {
    const TimeNs start = trace.ranges.start[i];
    const int64_t duration = trace.ranges.duration[i];
    const TimeNs last = std::max(trace.span.end, start);
    add(trace.ranges, i, start,
        duration == NarrowColumn::kNone ? last - start : DurationNs{duration});
  }
  for (size_t i = 0; i < trace.instants.size(); ++i) {
    add(trace.instants, i, trace.instants.at[i], {});
  }
  return marks;
}

ComputedRow AddSteps(const StepTable& steps, ComputedSlices& slices) {
  ComputedRow row;
  for (const Step& step : steps.steps) {
    row.push_back(slices.Add(step.when, StepName(step), static_cast<uint8_t>(step.label.phase)));
  }
  return row;
}

ComputedRow AddBusy(const DeviceItems& device, ComputedSlices& slices) {
  const IntervalSet busy = UnionOf(device, [](WorkKind) { return true; });
  ComputedRow row;
  for (const Interval& when : busy.intervals()) {
    row.push_back(slices.Add(when, "busy", static_cast<uint8_t>(Exposure::kBusy)));
  }
  return row;
}

ComputedRow AddCommunication(const DeviceItems& device, ComputedSlices& slices) {
  const IntervalSet communicates =
      UnionOf(device, [](WorkKind kind) { return kind == WorkKind::kCommunication; });
  const IntervalSet computes = UnionOf(device, [](WorkKind kind) {
    return kind == WorkKind::kCompute || kind == WorkKind::kMemset;
  });
  ComputedRow row;
  for (const Interval& whole : communicates.intervals()) {
    computes.ForEachPart(whole, [&](Interval part, bool hidden) {
      row.push_back(
          slices.Add(part, hidden ? "hidden" : "exposed",
                     static_cast<uint8_t>(hidden ? Exposure::kHidden : Exposure::kExposed)));
    });
  }
  return row;
}

ComputedRow AddIdle(const std::vector<IdleStretch>& stretches, uint32_t device,
                    ComputedSlices& slices) {
  ComputedRow row;
  auto stretch = std::ranges::lower_bound(stretches, device, {}, &IdleStretch::device);
  for (; stretch != stretches.end() && stretch->device == device; ++stretch) {
    row.push_back(slices.Add(stretch->when, IdleCauseId(stretch->cause),
                             static_cast<uint8_t>(stretch->cause)));
  }
  return row;
}

}  // namespace tacho
