#include "analysis/ranks/digest.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "analysis/prepared_trace.h"

namespace tacho {

static_assert(sizeof(CommKernel) <= TraceDigest::kBytesOfKernel);
static_assert(sizeof(DigestStep) + sizeof(StepCells::Step) + 2 * sizeof(StepCell) <=
              TraceDigest::kBytesOfStep);

size_t TraceDigest::MemoryBytes() const {
  size_t bytes = sizeof *this + steps.capacity() * sizeof(DigestStep) +
                 cells.steps.capacity() * sizeof(StepCells::Step) +
                 cells.cells.capacity() * sizeof(StepCell) +
                 categories.capacity() * sizeof(std::string);
  for (const LeadUps& device : lead_ups) bytes += device.MemoryBytes();
  if (!communication) return bytes;
  for (const CommSeries& series : *communication)
    bytes += sizeof series + series.kernels.capacity() * sizeof(CommKernel);
  return bytes;
}

DigestBuilder::DigestBuilder(const PreparedTrace& prepared, const Scope& scope)
    : prepared_(prepared) {
  digest_.communication = prepared.communication;
  digest_.steps.reserve(prepared.steps.steps.size());
  const std::vector<Step>& steps = prepared.steps.steps;
  for (const Step& step : steps)
    digest_.steps.push_back(
        {step.label, step.when, {}, step.device_busy.value_or(DurationNs{}), {}});
  for (const StepWork& work : FindStepWork(prepared.index, prepared.links, steps)) {
    Interval& device = digest_.steps[work.step].device;
    if (steps[work.step].lost_work) continue;
    device = device.empty() ? work.when
                            : Interval{std::min(device.start, work.when.start),
                                       std::max(device.end, work.when.end)};
  }
  for (uint32_t i = 0; i < digest_.steps.size(); ++i) {
    if (!digest_.steps[i].device.empty()) by_device_start_.push_back(i);
  }
  std::ranges::stable_sort(by_device_start_, {},
                           [&](uint32_t i) { return digest_.steps[i].device.start; });
  if (!scope.window && scope.device.empty()) cells_.emplace(prepared);
  digest_.categories = prepared.work.categories;
  for (const DeviceItems& device : prepared.work.devices) {
    if (!prepared.work.on_host) lead_ups_.emplace_back(device, scope.window);
  }
}

void DigestBuilder::AddIdle(const IdleStretch& stretch) {
  if (cells_) cells_->AddIdle(stretch);
  if (!lead_ups_.empty()) lead_ups_[stretch.device].AddIdle(stretch.when, stretch.cause);
  if (stretch.cause != IdleCause::kHostLate && stretch.cause != IdleCause::kInLaunchCall) return;
  const auto next =
      std::ranges::upper_bound(by_device_start_, stretch.when.start, {},
                               [&](uint32_t step) { return digest_.steps[step].device.start; });
  if (next != by_device_start_.begin())
    digest_.steps[*std::prev(next)].host_late += stretch.when.length();
}

TraceDigest DigestBuilder::Finish(bool idle_known) && {
  if (cells_) digest_.cells = std::move(*cells_).Finish(idle_known);
  if (!idle_known) {
    for (DigestStep& step : digest_.steps) step.host_late = {};
  }
  const Trace& trace = prepared_.index.trace();
  const std::vector<Step>& steps = prepared_.steps.steps;
  const auto launch_of = [&](uint32_t row) -> LeadUps::Launch {
    const uint32_t call = prepared_.links.call_of_gpu[row];
    const uint32_t step = call == LaunchLinks::kNone ? kNoStep : prepared_.steps_of_calls[call];
    if (step == kNoStep) return {};
    const DurationNs after = trace.host_calls.start[call] - steps[step].when.start;
    constexpr int64_t kMost = std::numeric_limits<uint32_t>::max();
    return {step, static_cast<uint32_t>(std::clamp<int64_t>(after.ns, 0, kMost))};
  };
  for (LeadUpBuilder& device : lead_ups_)
    digest_.lead_ups.push_back(std::move(device).Finish(launch_of));
  return std::move(digest_);
}

}  // namespace tacho
