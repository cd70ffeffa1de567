#include "analysis/layers/step_roles.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace tacho {
namespace {

class RoleFinder {
 public:
  explicit RoleFinder(const PreparedTrace& prepared)
      : prepared_(prepared),
        trace_(prepared.index.trace()),
        steps_(prepared.steps.steps),
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
      found.push_back(std::move(of));
    }
  }

 private:
  enum class Part : uint8_t { kUnknown, kNo, kYes };

  void Add(uint32_t step, uint32_t item, std::vector<StepRoles>& by_step) const {
    if (step != kNoStep && !steps_[step].lost_work && !steps_[step].cut)
      by_step[step].items.push_back(item);
  }

  void ShareOutByCall(const DeviceItems& device, std::vector<StepRoles>& by_step) const {
    for (uint32_t i = 0; i < device.items.size(); ++i) {
      const uint32_t call = prepared_.links.call_of_gpu[device.items[i].row];
      if (call != LaunchLinks::kNone) Add(prepared_.steps_of_calls[call], i, by_step);
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
      if (at) Add(own[*at], i, by_step);
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
