#include "analysis/steps/step_profile.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "analysis/steps/step_kernels.h"
#include "analysis/steps/step_times.h"
#include "base/parallel.h"

namespace tacho {
namespace {

// A stretch of a device's time and the part that it belongs to, a number of PartNames.
struct PartOf {
  Interval when;
  uint32_t part = 0;
};

// The names of all possible parts: categories, then copy and memset, then idle causes.
class PartNames {
 public:
  explicit PartNames(const DeviceWork& work) : names_(work.categories) {
    copy_ = static_cast<uint32_t>(names_.size());
    names_.emplace_back(WorkKindName(WorkKind::kCopy));
    names_.emplace_back(WorkKindName(WorkKind::kMemset));
    for (uint32_t cause = 0; cause < static_cast<uint32_t>(IdleCause::kCount); ++cause)
      names_.push_back("idle." + std::string(IdleCauseId(static_cast<IdleCause>(cause))));
  }
  [[nodiscard]] uint32_t Of(const WorkItem& item) const {
    if (item.kind == WorkKind::kCopy) return copy_;
    return item.kind == WorkKind::kMemset ? copy_ + 1 : item.category;
  }
  [[nodiscard]] uint32_t Of(IdleCause cause) const {
    return copy_ + 2 + static_cast<uint32_t>(cause);
  }
  [[nodiscard]] size_t size() const { return names_.size(); }
  [[nodiscard]] const std::string& operator[](size_t part) const { return names_[part]; }

 private:
  std::vector<std::string> names_;
  uint32_t copy_ = 0;
};

// Of kinds of work that run together, the one with the lowest rank gets the time.
int RankOf(WorkKind kind) {
  if (kind == WorkKind::kCommunication) return 1;
  return kind == WorkKind::kCopy ? 2 : 0;
}

// Splits the rows of one thread's steps on one device into parts, one row after the other in the
// order of time. Holds the parts of one row at a time.
class PartsOfRows {
 public:
  // `outside`: the part that gets the time outside of the device's window. There is such time on a
  // CPU engine, because its first step begins before its first operator.
  PartsOfRows(const DeviceItems& device, uint32_t number, const std::vector<IdleStretch>& idle,
              const PartNames& names, uint32_t outside)
      : names_(names), outside_(outside), next_(device.items.begin()), end_(device.items.end()) {
    const auto of_device = [&](const IdleStretch& stretch) { return stretch.device == number; };
    next_idle_ = std::find_if(idle.begin(), idle.end(), of_device);
    idle_end_ = std::find_if_not(next_idle_, idle.end(), of_device);
  }

  void Fill(StepProfile::Row& row) {
    std::erase_if(running_, [&](const WorkItem* item) { return item->when.end <= row.when.start; });
    for (; next_ != end_ && next_->when.start < row.when.end; ++next_) {
      if (next_->when.end > row.when.start) running_.push_back(&*next_);
    }
    Cover(0, row.when, parts_);
    for (const int rank : {1, 2}) {
      Cover(rank, row.when, below_);
      AddBelow();
    }
    below_.clear();
    while (next_idle_ != idle_end_ && next_idle_->when.end <= row.when.start) ++next_idle_;
    for (auto stretch = next_idle_; stretch != idle_end_ && stretch->when.start < row.when.end;
         ++stretch)
      below_.push_back({stretch->when.Clip(row.when), names_.Of(stretch->cause)});
    AddBelow();
    row.ns.assign(names_.size(), {});
    DurationNs left = row.when.length();
    for (const PartOf& part : parts_) {
      row.ns[part.part] += part.when.length();
      left -= part.when.length();
    }
    row.ns[outside_] += left;
  }

 private:
  // Sets `cover` to the times within the window at which items of `rank` run. Where several run,
  // the one that started first gets the time.
  void Cover(int rank, Interval window, std::vector<PartOf>& cover) const {
    cover.clear();
    TimeNs reach = window.start;
    for (const WorkItem* item : running_) {
      const Interval when{std::max(item->when.start, reach), std::min(item->when.end, window.end)};
      if (RankOf(item->kind) != rank || when.empty()) continue;
      cover.push_back({when, names_.Of(*item)});
      reach = when.end;
    }
  }

  // Adds the stretches of `below_` to `parts_`, but only where `parts_` has a hole. Both lists are
  // sorted by time and have no overlaps.
  void AddBelow() {
    if (below_.empty()) return;
    merged_.clear();
    auto next = parts_.begin();
    for (PartOf below : below_) {
      while (next != parts_.end() && next->when.start < below.when.end) {
        if (next->when.start > below.when.start)
          merged_.push_back({{below.when.start, next->when.start}, below.part});
        below.when.start = std::max(below.when.start, next->when.end);
        // This part may also cover the next one in below_.
        if (next->when.end > below.when.end) break;
        merged_.push_back(*next++);
      }
      if (!below.when.empty()) merged_.push_back(below);
    }
    merged_.insert(merged_.end(), next, parts_.end());
    std::swap(parts_, merged_);
  }

  const PartNames& names_;
  uint32_t outside_;
  // The next item or stretch that starts after the last row.
  std::vector<WorkItem>::const_iterator next_, end_;
  std::vector<IdleStretch>::const_iterator next_idle_, idle_end_;
  std::vector<const WorkItem*> running_;  // items that overlap the row, sorted by start
  std::vector<PartOf> parts_, below_, merged_;
};

// The steps of one thread on one device, sorted by start.
struct Sequence {
  uint32_t device = 0;
  // Index of the step, and the extent of its work.
  std::vector<std::pair<uint32_t, Interval>> steps;
};

std::vector<Sequence> SequencesOf(const PreparedTrace& prepared) {
  const Trace& trace = prepared.index.trace();
  const std::vector<Step>& steps = prepared.steps.steps;
  const std::vector<DeviceItems>& devices = prepared.work.devices;
  std::map<std::pair<uint32_t, TrackId>, Sequence> found;
  const auto add = [&](uint32_t device, uint32_t step, Interval when) {
    Sequence& sequence = found[{device, steps[step].track}];
    sequence.device = device;
    sequence.steps.emplace_back(step, when);
  };
  if (prepared.work.on_host) {
    const std::vector<Track>& tracks = trace.words.tracks();
    for (uint32_t device = 0; device < devices.size(); ++device) {
      const ProcessId process = tracks[Index(devices[device].executor)].process;
      for (uint32_t i = 0; i < steps.size(); ++i) {
        if (tracks[Index(steps[i].track)].process == process) add(device, i, steps[i].when);
      }
    }
  } else {
    for (const StepWork& work : FindStepWork(prepared.index, prepared.links, steps)) {
      const auto device = std::ranges::find(devices, trace.Text(work.device), &DeviceItems::device);
      if (device != devices.end())
        add(static_cast<uint32_t>(device - devices.begin()), work.step, work.when);
    }
  }
  std::vector<Sequence> sequences;
  for (auto& [key, sequence] : found) {
    std::ranges::stable_sort(sequence.steps, {}, [](const auto& s) { return s.second.start; });
    sequences.push_back(std::move(sequence));
  }
  return sequences;
}

// Whether it is known when the work of step `next` began. It is not if `next`, or a step of the
// same thread between `step` and `next`, lost work.
bool IsNextWhole(uint32_t step, uint32_t next, const std::vector<Step>& steps) {
  for (uint32_t i = step + 1; i < next; ++i) {
    if (steps[i].track == steps[step].track && steps[i].lost_work) return false;
  }
  return !steps[next].lost_work;
}

// A row ends where the next one starts, unless a pause follows.
std::vector<StepProfile::Row> RowsOf(const Sequence& sequence, const std::vector<Step>& steps,
                                     const Scope& scope) {
  std::vector<Step> timed;
  for (size_t i = 0; i < sequence.steps.size(); ++i) {
    const auto& [step, own] = sequence.steps[i];
    Step& as_timed =
        timed.emplace_back(Step{.label = steps[step].label, .when = own, .period = {}});
    if (i + 1 < sequence.steps.size())
      as_timed.period = sequence.steps[i + 1].second.start - own.start;
  }
  const std::vector<Interval> times = StepTimes(timed);
  std::vector<StepProfile::Row> rows;
  for (size_t i = 0; i + 1 < times.size(); ++i) {
    const uint32_t step = sequence.steps[i].first;
    // Rows must not overlap. After a pause of its thread, a step's work may run into the next step,
    // so it is cut where the next step's work starts.
    const Interval when = times[i].Clip({times[i].start, timed[i + 1].when.start});
    if (when.empty() || steps[step].cut || steps[step].lost_work || scope.Clip(when) != when ||
        !IsNextWhole(step, sequence.steps[i + 1].first, steps))
      continue;
    rows.push_back({step, sequence.device, when, {}});
  }
  return rows;
}

// Keeps the parts that have time in at least one row, sorted by name.
void KeepUsed(const PartNames& names, StepProfile& profile) {
  std::map<std::string, size_t> used;
  for (size_t part = 0; part < names.size(); ++part) {
    const bool any = std::ranges::any_of(
        profile.rows, [&](const StepProfile::Row& row) { return row.ns[part].ns > 0; });
    if (any) used.emplace(names[part], part);
  }
  for (const auto& [name, part] : used) profile.parts.push_back(name);
  for (StepProfile::Row& row : profile.rows) {
    std::vector<DurationNs> kept;
    for (const auto& [name, part] : used) kept.push_back(row.ns[part]);
    row.ns = std::move(kept);
  }
}

}  // namespace

StepProfile ProfileSteps(const PreparedTrace& prepared, const std::vector<IdleStretch>& idle,
                         const KernelTable& kernels, const Scope& scope, size_t threads) {
  StepProfile profile;
  const std::vector<Sequence> sequences = SequencesOf(prepared);
  if (sequences.empty()) return profile;
  const DeviceWork& work = prepared.work;
  const PartNames names(work);
  const Trace& trace = prepared.index.trace();
  std::vector<std::vector<StepProfile::Row>> rows;  // indexed by sequence
  for (const Sequence& sequence : sequences)
    rows.push_back(RowsOf(sequence, prepared.steps.steps, scope));
  // One job reads the rows' times while the other one fills in their parts.
  RunAll({[&] {
            StepKernels uses(trace, prepared.steps.steps);
            for (size_t i = 0; i < sequences.size(); ++i)
              uses.Add(work, work.devices[sequences[i].device], rows[i]);
            profile.batches = uses.Batches(work, kernels);
          },
          [&] {
            const IdleCause outside = work.on_host ? IdleCause::kHost : IdleCause::kUnknown;
            for (size_t i = 0; i < sequences.size(); ++i) {
              const uint32_t device = sequences[i].device;
              PartsOfRows parts(work.devices[device], device, idle, names, names.Of(outside));
              for (StepProfile::Row& row : rows[i]) parts.Fill(row);
            }
          }},
         threads);
  for (std::vector<StepProfile::Row>& of_sequence : rows) {
    profile.rows.insert(profile.rows.end(), std::make_move_iterator(of_sequence.begin()),
                        std::make_move_iterator(of_sequence.end()));
  }
  KeepUsed(names, profile);
  return profile;
}

}  // namespace tacho
