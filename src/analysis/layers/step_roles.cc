#include "analysis/layers/step_roles.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analysis/index/name_index.h"
#include "base/interval_set.h"

namespace tacho {
namespace {

// When the host launched work of a draft model, by track.
std::map<TrackId, IntervalSet> FindDrafts(const Trace& trace) {
  NameIndex names(trace);
  std::vector<bool> is_draft;
  std::map<TrackId, std::vector<Interval>> found;
  for (uint32_t row = 0; row < trace.annotations.size(); ++row) {
    const StringId name = trace.annotations.name[row];
    const uint32_t number = names[name];
    if (number == is_draft.size()) is_draft.push_back(IsDraft(trace.Text(name)));
    if (is_draft[number])
      found[trace.annotations.track[row]].push_back(trace.annotations.When(row));
  }
  std::map<TrackId, IntervalSet> drafts;
  for (auto& [track, when] : found) drafts.emplace(track, std::move(when));
  return drafts;
}

class RoleFinder {
 public:
  explicit RoleFinder(const PreparedTrace& prepared)
      : prepared_(prepared),
        trace_(prepared.index.trace()),
        steps_(prepared.steps.steps),
        drafts_(FindDrafts(trace_)),
        by_category_(RolesOf(prepared.work.categories)),
        parts_(trace_.words.strings.size(), Part::kUnknown) {}

  void AddDevice(const DeviceItems& device, std::vector<StepRoles>& found) {
    std::vector<StepRoles> by_step(steps_.size());
    if (prepared_.work.on_host)
      ShareOutByTime(device, by_step);
    else
      ShareOutByCall(device, by_step);
    for (uint32_t step = 0; step < by_step.size(); ++step) {
      StepRoles& of = by_step[step];
      if (of.items.empty()) continue;
      of.step = step;
      of.device = &device;
      FindRoles(of);
      of.draft_is_named = !of.draft.empty();
      if (!of.draft_is_named && steps_[step].verifies) SplitOffDraft(of);
      found.push_back(std::move(of));
    }
  }

 private:
  enum class Part : uint8_t { kUnknown, kNo, kYes };

  void Add(uint32_t step, uint32_t item, bool is_draft, std::vector<StepRoles>& by_step) const {
    if (step == kNoStep) return;
    const Step& of = steps_[step];
    if (of.lost_work || of.cut || of.work_cut) return;
    (is_draft ? by_step[step].draft : by_step[step].items).push_back(item);
  }

  [[nodiscard]] bool IsOfDraft(uint32_t call) const {
    if (drafts_.empty()) return false;
    const auto drafts = drafts_.find(trace_.host_calls.track[call]);
    const TimeNs start = trace_.host_calls.start[call];
    return drafts != drafts_.end() && drafts->second.Touches({start, start + DurationNs{1}});
  }

  void ShareOutByCall(const DeviceItems& device, std::vector<StepRoles>& by_step) const {
    for (uint32_t i = 0; i < device.items.size(); ++i) {
      const uint32_t call = prepared_.links.call_of_gpu[device.items[i].row];
      if (call != LaunchLinks::kNone)
        Add(prepared_.steps_of_calls[call], i, IsOfDraft(call), by_step);
    }
  }

  // On a CPU engine the work of a step is what its process does during the step.
  void ShareOutByTime(const DeviceItems& device, std::vector<StepRoles>& by_step) const {
    const ProcessId process = trace_.words[device.executor].process;
    std::vector<uint32_t> own;
    std::vector<Step> own_steps;
    for (uint32_t i = 0; i < steps_.size(); ++i) {
      if (trace_.words[steps_[i].track].process != process) continue;
      own.push_back(i);
      own_steps.push_back(steps_[i]);
    }
    const StepFinder finder(own_steps);
    for (uint32_t i = 0; i < device.items.size(); ++i) {
      const std::optional<uint32_t> at = finder.At(device.items[i].when.start);
      if (at) Add(own[*at], i, false, by_step);
    }
  }

  [[nodiscard]] bool IsPartOfProduct(StringId name) {
    Part& part = parts_[Index(name)];
    if (part == Part::kUnknown) part = IsProductPart(trace_.Text(name)) ? Part::kYes : Part::kNo;
    return part == Part::kYes;
  }

  void FindRoles(StepRoles& of) {
    std::optional<uint32_t> mixers;  // the stream of the mixers seen last
    for (const uint32_t item : of.items) {
      const WorkItem& work = of.device->items[item];
      if (!IsMixer(by_category_[work.category])) continue;
      of.several_streams = of.several_streams || (mixers && *mixers != work.stream);
      mixers = work.stream;
    }
    bool norm = false;
    of.roles.reserve(of.items.size());
    for (const uint32_t item : of.items) {
      of.roles.push_back(RoleOf(of.device->items[item], mixers));
      norm = norm || IsNorm(of.roles.back());
    }
    // Without a norm kernel, reductions count as norms, because a norm may be computed in parts.
    if (!norm) std::ranges::replace(of.roles, LayerRole::kReduction, LayerRole::kNorm);
  }

  // Finds the draft model's work by its place.
  static void SplitOffDraft(StepRoles& of) {
    size_t mixers = 0, begin = 0;  // `begin`: after the last sampling
    for (size_t i = 0; i < of.roles.size(); ++i) {
      if (of.roles[i] == LayerRole::kSampling && mixers >= 2) begin = i + 1;
      if (!IsMixer(of.roles[i])) continue;
      if (begin == 0) {
        ++mixers;
        continue;
      }
      const auto last = std::ranges::find(of.roles.rbegin(), of.roles.rend(), LayerRole::kSampling);
      const auto from = static_cast<ptrdiff_t>(begin);
      auto until = of.roles.rend() - last;  // after the last sampling; copies may follow
      if (until <= static_cast<ptrdiff_t>(i)) until = std::ssize(of.roles);
      of.draft.assign(of.items.begin() + from, of.items.begin() + until);
      of.items.erase(of.items.begin() + from, of.items.begin() + until);
      of.roles.erase(of.roles.begin() + from, of.roles.begin() + until);
      return;
    }
  }

  [[nodiscard]] LayerRole RoleOf(const WorkItem& work, std::optional<uint32_t> mixers) {
    if (work.continued) return LayerRole::kOther;
    if (work.kind == WorkKind::kCopy) return LayerRole::kCopy;
    const LayerRole role = by_category_[work.category];
    if (role != LayerRole::kProduct && role != LayerRole::kActivation) return role;
    if (mixers && work.stream != *mixers && !prepared_.work.on_host) return LayerRole::kSide;
    return role == LayerRole::kProduct && IsPartOfProduct(work.name) ? LayerRole::kProductPart
                                                                     : role;
  }

  const PreparedTrace& prepared_;
  const Trace& trace_;
  const std::vector<Step>& steps_;
  std::map<TrackId, IntervalSet> drafts_;
  std::vector<LayerRole> by_category_;
  std::vector<Part> parts_;  // by StringId
};

}  // namespace

std::vector<StepRoles> RolesOfSteps(const PreparedTrace& prepared) {
  std::vector<StepRoles> found;
  RoleFinder finder(prepared);
  for (const DeviceItems& device : prepared.work.devices) finder.AddDevice(device, found);
  return found;
}

}  // namespace tacho
