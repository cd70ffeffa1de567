#include "analysis/compare/kernel_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "analysis/compare/step_uses.h"

namespace tacho {
namespace {

constexpr double kSameCalls = 0.02, kSamePlace = 0.1;
constexpr size_t kMostRenamed = 500;  // on each side

// By device and group: the number of steps of one trace.
using StepsOfDevices = std::map<std::string_view, std::map<StepBatch, double>>;
StepsOfDevices StepsOf(const TraceAnalysis& trace, const SharedBatches& batches) {
  StepsOfDevices steps;
  for (const StepProfile::Row& row : trace.step_profile.rows) {
    const StepBatch batch = BatchOf(trace.steps.steps[row.step].label);
    if (!batches.contains(batch)) continue;
    // With one device selected, `trace.devices` holds only that one.
    const std::string& selected = trace.scope.device;
    if (selected.empty() && row.device >= trace.devices.size()) continue;
    steps[selected.empty() ? trace.devices[row.device].device : selected][batch] += 1;
  }
  return steps;
}

class Gathering {
 public:
  Gathering(const SharedBatches& batches, StepUses& into) : batches_(batches), into_(into) {}

  void Add(const SideRanks& runs, size_t side) {
    side_ = side;
    into_.runs[side] = runs.size();
    for (run_ = 0; run_ < runs.size(); ++run_) {
      for (const TraceAnalysis* trace : runs[run_]) AddTrace(*trace);
    }
  }

 private:
  void AddTrace(const TraceAnalysis& trace) {
    std::set<uint32_t> used;
    for (const StepProfile::Batch& batch : trace.step_profile.batches) {
      if (!batches_.contains(batch.batch)) continue;
      const auto steps = static_cast<double>(batch.steps);
      AddTo(into_.steps_of_runs[batch.batch], steps);
      for (const StepProfile::KernelUse& use : batch.kernels) {
        used.insert(use.kernel);
        AddUse(trace.kernels.rows[use.kernel], batch.batch, steps, use);
      }
    }
    const StepsOfDevices steps = StepsOf(trace, batches_);
    for (const uint32_t row : used) AddSteps(trace.kernels.rows[row], steps);
  }

  void AddUse(const KernelRow& row, const StepBatch& batch, double steps,
              const StepProfile::KernelUse& use) {
    StepUse& kernel = into_.uses[row.name];
    kernel.category = row.category;
    kernel.runs_on[side_] = true;
    UseInGroup& group = kernel.groups[batch][side_];
    const auto total = static_cast<double>(use.total.ns);
    const auto deviation = static_cast<double>(use.deviation.ns);
    group.calls += static_cast<double>(use.calls);
    group.total += total;
    AddTo(kernel.totals[batch], total);
    group.squares += deviation * deviation * (steps - 1) + total * total / steps;
    group.places += use.place * static_cast<double>(use.calls);
  }

  // Adds the steps of the device that runs the kernel, also in groups in which it does not run.
  void AddSteps(const KernelRow& row, const StepsOfDevices& of_devices) {
    const auto steps = of_devices.find(row.device);
    if (steps == of_devices.end()) return;
    StepUse& kernel = into_.uses[row.name];
    for (const auto& [batch, count] : steps->second) {
      UseInGroup& group = kernel.groups[batch][side_];
      group.steps += count;
      ++group.windows;
      AddTo(kernel.steps_of_runs[batch], count);
    }
  }

  void AddTo(std::array<OfRuns, 2>& sums, double value) {
    sums[side_].resize(into_.runs[side_]);
    sums[side_][run_] += value;
  }

  const SharedBatches& batches_;
  StepUses& into_;
  size_t side_ = 0, run_ = 0;
};

KernelChange::Kind KindOf(const KernelChange& kernel) {
  using Kind = KernelChange::Kind;
  if (!kernel.time.IsBeyondNoise()) return Kind::kSame;
  if (kernel.now_calls == 0) return Kind::kGone;
  if (kernel.base_calls == 0) return Kind::kNew;
  // The difference that the changed number of calls explains, at base's time per call.
  const double by_calls =
      (kernel.now_calls - kernel.base_calls) * kernel.time.base / kernel.base_calls;
  const double difference = kernel.time.difference();
  if (by_calls / difference > 0.5) return difference > 0 ? Kind::kMoreCalls : Kind::kFewerCalls;
  return difference > 0 ? Kind::kSlower : Kind::kFaster;
}

void LargestFirst(std::vector<KernelChange>& changes) {
  std::ranges::sort(changes, [](const KernelChange& a, const KernelChange& b) {
    const double x = std::abs(a.time.difference()), y = std::abs(b.time.difference());
    return x != y ? x > y : a.name < b.name;
  });
}

}  // namespace

std::vector<KernelChange> CompareKernels(const ComparedRanks& ranks, const SharedBatches& batches,
                                         double spread) {
  StepUses gathered;
  Gathering gathering(batches, gathered);
  gathering.Add(ranks.base, 0);
  gathering.Add(ranks.now, 1);
  std::vector<KernelChange> changes = CompareUses(gathered, batches, spread);
  for (KernelChange& change : changes) change.kind = KindOf(change);
  LargestFirst(changes);
  return changes;
}

std::vector<KernelChange> CompareKernelTotals(const ComparedRanks& ranks,
                                              const std::array<double, 2>& devices) {
  std::map<std::string, KernelChange> by_name;
  for (const bool is_base : {true, false}) {
    const double of_side = devices[is_base ? 0 : 1];
    for (const RunRanks& run : is_base ? ranks.base : ranks.now) {
      for (const TraceAnalysis* trace : TimedOf(run)) {
        for (const KernelRow& row : trace->kernels.rows) {
          KernelChange& change = by_name[row.name];
          change.name = row.name;
          change.category = row.category;
          (is_base ? change.time.base : change.time.now) +=
              static_cast<double>(row.stats.total.ns) / of_side;
          (is_base ? change.base_calls : change.now_calls) +=
              static_cast<double>(row.stats.count) / of_side;
        }
      }
    }
  }
  std::vector<KernelChange> changes;
  for (auto& [name, change] : by_name) {
    if (change.now_calls == 0) change.kind = KernelChange::Kind::kGone;
    if (change.base_calls == 0) change.kind = KernelChange::Kind::kNew;
    changes.push_back(std::move(change));
  }
  LargestFirst(changes);
  return changes;
}

std::vector<RenamedKernel> ProposeRenamed(const std::vector<KernelChange>& kernels) {
  struct Pair {
    double apart;
    const KernelChange *gone, *fresh;
  };
  // Takes only the largest kernels of a kind, because each gone kernel is compared with each new
  // one.
  const auto largest = [&](KernelChange::Kind kind) {
    std::vector<const KernelChange*> found;
    for (const KernelChange& kernel : kernels) {
      if (kernel.kind == kind && found.size() < kMostRenamed) found.push_back(&kernel);
    }
    return found;
  };
  const auto new_ones = largest(KernelChange::Kind::kNew);
  std::vector<Pair> pairs;
  for (const KernelChange* gone : largest(KernelChange::Kind::kGone)) {
    for (const KernelChange* fresh : new_ones) {
      if (fresh->category != gone->category) continue;
      const double apart = std::abs(gone->base_place - fresh->now_place);
      const double calls_apart = std::abs(fresh->now_calls - gone->base_calls);
      const double one_call = gone->calls_half_width + fresh->calls_half_width;
      if (calls_apart <= std::max(kSameCalls * gone->base_calls, one_call) && apart <= kSamePlace)
        pairs.push_back({apart, gone, fresh});
    }
  }
  std::ranges::stable_sort(pairs, {}, &Pair::apart);
  std::set<const KernelChange*> paired;
  std::vector<RenamedKernel> renamed;
  for (const Pair& pair : pairs) {
    if (paired.contains(pair.gone) || paired.contains(pair.fresh)) continue;
    paired.insert({pair.gone, pair.fresh});
    renamed.push_back(
        {pair.gone->name, pair.fresh->name,
         fmt::format("both {}, {:.4g} calls a step, at {:.0f} % and {:.0f} % of the step",
                     pair.gone->category, pair.gone->base_calls, 100 * pair.gone->base_place,
                     100 * pair.fresh->now_place)});
  }
  return renamed;
}

}  // namespace tacho
