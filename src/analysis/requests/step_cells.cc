#include "analysis/requests/step_cells.h"

#include <algorithm>
#include <utility>

#include "analysis/prepared_trace.h"

namespace tacho {
namespace {

// Finds when communication runs without compute, and when copies run without either. Takes the work
// items in the order of their starts.
class ExposedWork {
 public:
  // Adds an item. Calls `on_stretch(interval, is_communication)` for exposed time before its start.
  template <typename OnExposed>
  void Add(const WorkItem& item, const OnExposed& on_stretch) {
    Resolve(item.when.start, on_stretch);
    TimeNs& reach = item.kind == WorkKind::kCommunication ? comm_
                    : item.kind == WorkKind::kCopy        ? copy_
                                                          : compute_;
    reach = std::max(reach, item.when.end);
  }
  // Reports the exposed time up to `until`. No item that is added later may start before `until`.
  template <typename OnExposed>
  void Resolve(TimeNs until, const OnExposed& on_stretch) {
    const Interval comm{std::max(from_, compute_), std::min(until, comm_)};
    if (!comm.empty()) on_stretch(comm, true);
    const Interval copy{std::max({from_, compute_, comm_}), std::min(until, copy_)};
    if (!copy.empty()) on_stretch(copy, false);
    from_ = std::max(from_, until);
  }

 private:
  // Time before `from_` is reported. The others: the latest end of the items so far, by kind.
  TimeNs from_{INT64_MIN}, compute_{INT64_MIN}, comm_{INT64_MIN}, copy_{INT64_MIN};
};

}  // namespace

StepCellsBuilder::StepCellsBuilder(const PreparedTrace& prepared) {
  FindSteps(prepared);
  size_t with_work = 0;
  const std::vector<DeviceItems>& devices = prepared.work.devices;
  for (uint32_t i = 0; i < devices.size(); ++i) {
    if (devices[i].items.empty()) continue;
    ++with_work;
    device_ = i;
  }
  one_device_ = with_work == 1;
  if (!one_device_ || cells_.steps.empty()) return;
  extent_ = devices[device_].extent;
  cells_.cells.resize(cuts_.size());
  AddWork(prepared);
}

void StepCellsBuilder::FindSteps(const PreparedTrace& prepared) {
  const std::vector<Step>& steps = prepared.steps.steps;
  std::vector<Interval> work(steps.size());
  if (!prepared.work.on_host) {
    for (const StepWork& of : FindStepWork(prepared.index, prepared.links, steps)) {
      Interval& all = work[of.step];
      all = all.empty()
                ? of.when
                : Interval{std::min(all.start, of.when.start), std::max(all.end, of.when.end)};
    }
  }
  cells_.steps.reserve(steps.size());
  TimeNs before{INT64_MIN};
  for (size_t i = 0; i < steps.size(); ++i) {
    const bool known = prepared.work.on_host || (!work[i].empty() && !steps[i].lost_work);
    Interval own = known && !prepared.work.on_host ? work[i] : steps[i].when;
    own.start = std::max(own.start, before);
    own.end = std::max(own.end, own.start);
    // A step with an empty batch does not take time from any request.
    if (steps[i].label.phase == Phase::kEmpty) own.end = own.start;
    before = own.end;
    cells_.steps.push_back({own, known});
    cuts_.push_back(own.start);
    cuts_.push_back(own.end);
  }
}

template <typename Add>
void StepCellsBuilder::AddTo(Interval when, const Add& add) {
  // Cell i is the time from cut i - 1 to cut i.
  auto cut = std::ranges::upper_bound(cuts_, when.start);
  if (cut == cuts_.begin()) ++cut;  // before the first step
  for (; cut != cuts_.end(); ++cut) {
    const Interval cell{*std::prev(cut), *cut};
    if (cell.start >= when.end) return;
    const DurationNs length = when.Clip(cell).length();
    if (length.ns > 0) add(cells_.cells[static_cast<size_t>(cut - cuts_.begin())], length);
  }
}

void StepCellsBuilder::AddWork(const PreparedTrace& prepared) {
  ExposedWork exposed;
  const auto add = [&](Interval when, bool is_comm) {
    AddTo(when,
          [&](StepCell& cell, DurationNs length) { (is_comm ? cell.comm : cell.copy) += length; });
  };
  for (const WorkItem& item : prepared.work.devices[device_].items) exposed.Add(item, add);
  exposed.Resolve(extent_.end, add);
}

void StepCellsBuilder::AddIdle(const IdleStretch& stretch) {
  if (cells_.cells.empty() || stretch.device != device_) return;
  AddTo(stretch.when, [&](StepCell& cell, DurationNs length) {
    cell.idle[static_cast<size_t>(stretch.cause)] += length;
  });
}

StepCells StepCellsBuilder::Finish(bool idle_known) && {
  if (!idle_known) cells_.cells.clear();
  if (!cells_.HasCells()) return std::move(cells_);
  // Before the first work of the device and after its last, nothing says what it did.
  const auto unknown = [](StepCell& cell, DurationNs length) {
    cell.idle[static_cast<size_t>(IdleCause::kUnknown)] += length;
  };
  AddTo({cuts_.front(), extent_.start}, unknown);
  AddTo({extent_.end, cuts_.back()}, unknown);
  return std::move(cells_);
}

}  // namespace tacho
