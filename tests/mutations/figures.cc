#include "mutations/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "analysis/analyze.h"
#include "analysis/device/earlier_work.h"

namespace tacho {
namespace {

class Findings {
 public:
  template <typename... Values>
  void Add(fmt::format_string<Values...> text, Values&&... values) {
    list_.push_back(fmt::format(text, std::forward<Values>(values)...));
  }
  std::vector<std::string> Take() { return std::move(list_); }

 private:
  std::vector<std::string> list_;
};

// No profiler records work that runs when it begins: the start of the first work after that.
TimeNs AfterEarlierWork(const Base& base, const Mutation& mutation, TimeNs begin) {
  const GpuTable& gpu = base.trace.gpu;
  TimeNs end = begin, next = base.trace.span.end;
  for (size_t row = 0; row < gpu.size(); ++row) {
    if (mutation.no_work[row] != 0 && gpu.start[row] < begin)
      end = std::max(end, gpu.When(row).end);
  }
  for (size_t row = 0; row < gpu.size(); ++row) {
    if (gpu.start[row] >= end) next = std::min(next, gpu.start[row]);
  }
  return next;
}

// The window of a device's work, on the base's clock, as far as a profiler can tell.
Interval Comparable(const Base& base, const Mutation& mutation, Interval window) {
  window = {window.start - mutation.off_at_start, window.end - mutation.off_at_start};
  if (mutation.cuts) window.start = AfterEarlierWork(base, mutation, window.start);
  return window;
}

// Of the work that is there nothing is wrong: sums, busy time. The rest is right, unknown, or wrong
// by the doubtful time at most.
void CheckDevices(const Base& base, const Mutation& mutation, const PreparedTrace& mutated,
                  Findings& wrong) {
  const LostWork& lost = mutated.integrity.lost;
  const int64_t doubt =
      lost.in_doubt.ns + MayBeBusyWithEarlierWork(mutated.index, mutated.links, {}).ns;
  const DurationNs off = mutation.off_at_start;
  for (const DeviceTime& whole : DeviceTimesOf(mutated)) {
    const Interval window = Comparable(base, mutation, whole.window);
    const auto device_in = [&](const PreparedTrace& prepared, DurationNs later) {
      return DecomposeDeviceTime(
          prepared.work,
          {.window = Interval{window.start + later, window.end + later}, .device = whole.device});
    };
    const std::vector<DeviceTime> is_there = device_in(mutated, off),
                                  base_has = device_in(base.prepared, {});
    if (is_there.empty() || base_has.empty()) {
      wrong.Add("device {} is none of the base's", whole.device);
      continue;
    }
    DeviceTime device = is_there.front();
    device.whole = whole.whole;
    const DeviceTime* right = &base_has.front();
    const auto lower_bound = [&](std::string_view what, DurationNs is, DurationNs should) {
      if (is > should)
        wrong.Add("device {}: {} is {} ns, at most {} are right", device.device, what, is.ns,
                  should.ns);
      if (device.whole && should.ns - is.ns > doubt)
        wrong.Add("device {}: {} is {} ns, {} are right, and {} are in doubt", device.device, what,
                  is.ns, should.ns, doubt);
    };
    const auto near = [&](std::string_view what, DurationNs is, DurationNs should) {
      if (device.whole && std::abs(is.ns - should.ns) > doubt)
        wrong.Add("device {}: {} is {} ns, {} are right, and {} are in doubt", device.device, what,
                  is.ns, should.ns, doubt);
    };
    lower_bound("busy", device.busy, right->busy);
    lower_bound("compute", device.compute, right->compute);
    near("idle", device.idle, right->idle);
    near("exposed communication", device.exposed_comm, right->exposed_comm);
    near("exposed copies", device.exposed_copy, right->exposed_copy);
    if (!lost.any() && lost.cut_off == 0 && device.kernel_sum != right->kernel_sum)
      wrong.Add("device {}: kernels are {} ns, {} are right, and nothing is lost", device.device,
                device.kernel_sum.ns, right->kernel_sum.ns);
  }
}

// A cause may be unknown; a known one has at most the time that the base gives it.
void CheckCauses(const Base& base, const Mutation& mutation, const PreparedTrace& mutated,
                 Findings& wrong) {
  const IdleTable idle = IdleOf(mutated);
  if (!idle.known) return;
  const LostWork& lost = mutated.integrity.lost;
  const int64_t doubt = lost.in_doubt.ns;
  std::map<IdleCause, int64_t> is, right;
  for (const DeviceTime& device : DeviceTimesOf(mutated)) {
    const Scope scope{.window = Comparable(base, mutation, device.window), .device = device.device};
    for (const IdleCauseRow& row : IdleOf(mutated, scope).causes) is[row.cause] += row.total.ns;
    DeviceWork work = CollectDeviceWork(base.prepared.index, BuiltInRules(), scope);
    for (const IdleCauseRow& row :
         AttributeIdle(base.prepared.index, work, base.prepared.links, scope).causes)
      right[row.cause] += row.total.ns;
  }
  // What lies between two steps is told where the steps are.
  if (mutation.host) {
    for (auto* causes : {&is, &right})
      (*causes)[IdleCause::kHostLate] += std::exchange((*causes)[IdleCause::kBetweenSteps], 0);
  }
  // The first gap may have begun before the recording.
  constexpr int64_t kEdge = 1'000;
  for (const auto& [cause, ns] : is) {
    if (cause != IdleCause::kUnknown && ns - right[cause] > doubt + kEdge)
      wrong.Add("idle time: {} ns of {}, {} are right, and {} are in doubt", ns, IdleCauseId(cause),
                right[cause], doubt);
  }
}

// What a step did on the devices is right or absent.
void CheckSteps(const Base& base, const Mutation& mutation, const PreparedTrace& mutated,
                Findings& wrong) {
  // That a step's calls end before it does shows only where others are made like them.
  if (mutation.cuts && (base.calls.size() < 100 || mutated.index.trace().host_calls.size() < 100))
    return;
  std::map<std::pair<int64_t, TrackId>, const Step*> right;
  for (const Step& step : base.prepared.steps.steps)
    right[{step.when.start.ns, step.track}] = &step;
  for (const Step& step : mutated.steps.steps) {
    if (!step.device_busy) continue;
    const auto found = right.find({step.when.start.ns, step.track});
    if (found == right.end() || found->second->device_busy == step.device_busy) continue;
    wrong.Add("the step at {} ns: busy {} ns, {} are right",
              (step.when.start - base.trace.span.start).ns, step.device_busy->ns,
              found->second->device_busy.value_or(DurationNs{-1}).ns);
    return;
  }
}

// A base's clock is right, so what must be added to the times of a mutated trace is what was taken
// away. Of a drift that is not seen the bounds at both ends hold, but for what it is within a
// tenth.
void CheckClock(const Mutation& mutation, const PreparedTrace& mutated, Findings& wrong) {
  for (const DeviceClock& clock : mutated.integrity.clocks) {
    const auto check = [&](DurationNs off, std::optional<DurationNs> least,
                           std::optional<DurationNs> most, DurationNs tolerance) {
      if ((least && *least > off + tolerance) || (most && off > *most + tolerance))
        wrong.Add("device {}: {} ns must be added to its times, not {} to {}", clock.device, off.ns,
                  least ? std::to_string(least->ns) : "any",
                  most ? std::to_string(most->ns) : "any");
    };
    const DurationNs at_start = -mutation.off_at_start, at_end = -mutation.off_at_end;
    if (!mutation.drifts()) check(at_start, clock.least, clock.most, kClockTolerance);
    if (!mutation.drifts() || clock.state != DeviceClock::State::kRight) continue;
    const DurationNs within{std::abs((at_end - at_start).ns) / 10 + kClockTolerance.ns};
    check(at_start, clock.least_at_start, std::nullopt, within);
    check(at_end, clock.least_at_end, std::nullopt, within);
  }
}

}  // namespace

CheckedFigures CheckFigures(const Base& base, const Mutation& mutation, const Trace& trace) {
  const PreparedTrace mutated = Prepare(trace, BuiltInRules());
  Findings wrong;
  CheckClock(mutation, mutated, wrong);
  if (!mutation.drifts()) CheckDevices(base, mutation, mutated, wrong);
  if (!mutation.moves_clock()) {
    CheckCauses(base, mutation, mutated, wrong);
    CheckSteps(base, mutation, mutated, wrong);
  }
  const std::vector<DeviceTime> devices = DeviceTimesOf(mutated);
  return {.wrong = wrong.Take(),
          .tells_idle_time = !devices.empty() && devices.front().whole,
          .tells_causes = IdleOf(mutated).known && mutated.integrity.common_clock()};
}

}  // namespace tacho
