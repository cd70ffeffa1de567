#include "view/computed_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace tacho {
namespace {

// The row of all slices that were added since the table had `first` slices.
ComputedRow Since(size_t first, const ComputedSlices& slices) {
  return {static_cast<uint32_t>(first), slices.table.size() - first};
}

// Gives the union of the items whose kind `wanted` accepts, one interval at a time. Builds no list,
// because allocating it would cost more than the union.
template <typename Wanted>
class UnionOf {
 public:
  UnionOf(const DeviceItems& device, Wanted wanted) : items_(device.items), wanted_(wanted) {}

  // The next interval; empty after the last one.
  Interval Next() {
    Interval open;
    for (; next_ < items_.size(); ++next_) {
      const WorkItem& item = items_[next_];
      if (!wanted_(item.kind) || item.when.empty()) continue;
      if (!open.empty() && item.when.start > open.end) break;
      open = open.empty() ? item.when : Interval{open.start, std::max(open.end, item.when.end)};
    }
    return open;
  }

 private:
  std::span<const WorkItem> items_;  // by start
  Wanted wanted_;
  size_t next_ = 0;
};

std::string StepName(const Step& step) {
  const StepLabel& label = step.label;
  const int64_t tokens =
      std::max<int64_t>(label.context_tokens, 0) + std::max<int64_t>(label.generation_tokens, 0);
  if (tokens == 0) return std::string(PhaseName(label.phase));
  return fmt::format("{} {} token{}", PhaseName(label.phase), tokens, tokens == 1 ? "" : "s");
}

}  // namespace

void ComputedSlices::Add(Interval when, std::string_view name, uint8_t color) {
  StringId& id = last_of_color[color];
  if (names.View(id) != name) {
    id = names.Intern(name);
    color_of_name.resize(names.size());
    color_of_name[static_cast<size_t>(id)] = color;
  }
  table.start.push_back(when.start);
  table.duration.push_back(when.length().ns);
  table.name.push_back(id);
  table.track.push_back({});
  table.args.push_back({});
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
  const size_t first = slices.table.size();
  for (const Step& step : steps.steps) {
    slices.Add(step.when, StepName(step), static_cast<uint8_t>(step.label.phase));
  }
  return Since(first, slices);
}

ComputedRow AddBusy(const DeviceItems& device, ComputedSlices& slices) {
  const size_t first = slices.table.size();
  UnionOf all(device, [](WorkKind) { return true; });
  for (Interval busy = all.Next(); !busy.empty(); busy = all.Next()) {
    slices.Add(busy, "busy", static_cast<uint8_t>(Exposure::kBusy));
  }
  return Since(first, slices);
}

ComputedRow AddCommunication(const DeviceItems& device, ComputedSlices& slices) {
  const size_t first = slices.table.size();
  UnionOf communication(device, [](WorkKind kind) { return kind == WorkKind::kCommunication; });
  UnionOf computation(device, [](WorkKind kind) {
    return kind == WorkKind::kCompute || kind == WorkKind::kMemset;
  });
  Interval computes = computation.Next();
  for (Interval rest = communication.Next(); !rest.empty(); rest = communication.Next()) {
    while (!rest.empty()) {
      while (!computes.empty() && computes.end <= rest.start) computes = computation.Next();
      const Interval hidden = computes.Clip(rest);
      const Interval exposed{rest.start, hidden.empty() ? rest.end : hidden.start};
      if (!exposed.empty())
        slices.Add(exposed, "exposed", static_cast<uint8_t>(Exposure::kExposed));
      if (!hidden.empty()) slices.Add(hidden, "hidden", static_cast<uint8_t>(Exposure::kHidden));
      rest.start = hidden.empty() ? rest.end : hidden.end;
    }
  }
  return Since(first, slices);
}

IdleRows AddIdle(const PreparedTrace& prepared, const InFlight* in_flight, size_t max_gaps,
                 ComputedSlices& slices) {
  size_t first = slices.table.size();
  std::vector<size_t> counts(prepared.work.devices.size());
  IdleRows idle;
  idle.table = IdleOf(prepared, {}, in_flight, max_gaps, [&](const IdleStretch& stretch) {
    slices.Add(stretch.when, IdleCauseId(stretch.cause), static_cast<uint8_t>(stretch.cause));
    ++counts[stretch.device];
  });
  for (const size_t count : counts) {
    idle.of_device.emplace_back(static_cast<uint32_t>(first), count);
    first += count;
  }
  return idle;
}

}  // namespace tacho
