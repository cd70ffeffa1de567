#include "analysis/compare/kernel_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/compare/quantiles.h"
#include "analysis/compare/run_noise.h"

namespace tacho {
namespace {

constexpr double kAlpha = 0.005;  // probability that any unchanged kernel is reported
constexpr double kManySteps = 1e6;
constexpr double kSameCalls = 0.02, kSamePlace = 0.1;
constexpr size_t kMostRenamed = 500;  // on each side

// One kernel in the steps of one group of batches on one side.
struct InGroup {
  double calls = 0, total = 0, squares = 0, places = 0;
};
// One sum for each run, over the steps of one group.
using OfRuns = std::vector<double>;
struct OneKernel {
  std::string category;
  std::map<StepBatch, std::array<InGroup, 2>> groups;
  std::map<StepBatch, std::array<OfRuns, 2>> totals;
};
struct Gathered {
  std::map<std::string, OneKernel> kernels;  // by name
  std::map<StepBatch, std::array<double, 2>> steps;
  std::map<StepBatch, std::array<OfRuns, 2>> steps_of_runs;
};

void Gather(const SideRanks& runs, size_t side, const SharedBatches& batches, Gathered& into) {
  const auto add = [&](std::array<OfRuns, 2>& sums, size_t run, double value) {
    sums[side].resize(runs.size());
    sums[side][run] += value;
  };
  for (size_t run = 0; run < runs.size(); ++run) {
    for (const TraceAnalysis* trace : runs[run]) {
      for (const StepProfile::Batch& batch : trace->step_profile.batches) {
        if (!batches.contains(batch.batch)) continue;
        const auto steps = static_cast<double>(batch.steps);
        into.steps[batch.batch][side] += steps;
        add(into.steps_of_runs[batch.batch], run, steps);
        for (const StepProfile::KernelUse& use : batch.kernels) {
          const KernelRow& row = trace->kernels.rows[use.kernel];
          OneKernel& kernel = into.kernels[row.name];
          kernel.category = row.category;
          InGroup& group = kernel.groups[batch.batch][side];
          const auto total = static_cast<double>(use.total.ns);
          const auto deviation = static_cast<double>(use.deviation.ns);
          group.calls += static_cast<double>(use.calls);
          group.total += total;
          add(kernel.totals[batch.batch], run, total);
          group.squares += deviation * deviation * (steps - 1) + total * total / steps;
          group.places += use.place * static_cast<double>(use.calls);
        }
      }
    }
  }
}

// For each run of one side: the difference in the kernel's time at equal batch between that run
// alone and all runs of the other side. Runs without these groups get no value.
OfRuns DifferencesOfRuns(const Gathered& gathered, const OneKernel& kernel,
                         const SharedBatches& batches, size_t side, size_t runs) {
  OfRuns differences;
  for (size_t run = 0; run < runs; ++run) {
    double weighed = 0, sum = 0;
    for (const auto& [batch, shared] : batches) {
      const OfRuns& steps = gathered.steps_of_runs.at(batch)[side];
      if (steps[run] == 0) continue;
      weighed += shared.weight;
      const auto groups = kernel.groups.find(batch);
      if (groups == kernel.groups.end()) continue;
      const OfRuns& totals = kernel.totals.at(batch)[side];
      const double own = totals.empty() ? 0 : totals[run] / steps[run];
      const double other = groups->second[1 - side].total / gathered.steps.at(batch)[1 - side];
      sum += shared.weight * (side == 0 ? other - own : own - other);
    }
    if (weighed > 0) differences.push_back(sum / weighed);
  }
  return differences;
}

KernelChange::Kind KindOf(const KernelChange& kernel) {
  using Kind = KernelChange::Kind;
  if (!kernel.time.IsBeyondNoise()) return Kind::kSame;
  if (kernel.now_calls == 0) return Kind::kGone;
  if (kernel.base_calls == 0) return Kind::kNew;
  // The part of the change explained by the number of calls, at base's time per call.
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
  const SideRanks &base = ranks.base, &now = ranks.now;
  Gathered gathered;
  Gather(base, 0, batches, gathered);
  Gather(now, 1, batches, gathered);
  std::vector<KernelChange> changes;
  std::vector<FigureOfRuns> of_runs;  // one for each change; empty with one run a side
  const double level =
      1 - kAlpha / (2 * std::max<double>(1, static_cast<double>(gathered.kernels.size())));
  for (const auto& [name, kernel] : gathered.kernels) {
    KernelChange& change = changes.emplace_back();
    change.name = name;
    change.category = kernel.category;
    double from_sizes = 0, variance = 0, uncertainty = 0;  // last: of the variance itself
    std::array<double, 2> all_calls{}, places{};
    for (const auto& [batch, groups] : kernel.groups) {
      const auto& [weight, size_shift] = batches.at(batch);
      // A kernel that is gone or new is so at any batch size.
      if (groups[0].calls > 0 && groups[1].calls > 0)
        from_sizes += weight * size_shift * groups[0].total / gathered.steps.at(batch)[0];
      for (size_t side = 0; side < 2; ++side) {
        const InGroup& group = groups[side];
        const double steps = gathered.steps.at(batch)[side], mean = group.total / steps;
        (side == 0 ? change.time.base : change.time.now) += weight * mean;
        (side == 0 ? change.base_calls : change.now_calls) += weight * group.calls / steps;
        all_calls[side] += group.calls;
        places[side] += group.places;
        const double of_group = weight * weight *
                                std::max(0.0, group.squares - steps * mean * mean) / (steps - 1) /
                                steps;
        variance += of_group;
        uncertainty += of_group * of_group / (steps - 1);
      }
    }
    change.base_place = all_calls[0] == 0 ? 0 : places[0] / all_calls[0];
    change.now_place = all_calls[1] == 0 ? 0 : places[1] / all_calls[1];
    // Welch-Satterthwaite: a group of few steps counts by its share of the variance.
    const double freedom = uncertainty > 0 ? variance * variance / uncertainty : kManySteps;
    change.time.half_width =
        std::max(1.0, StudentQuantile(level, freedom) * std::sqrt(variance * spread) + from_sizes);
    if (base.size() + now.size() > 2)
      of_runs.push_back({DifferencesOfRuns(gathered, kernel, batches, 0, base.size()),
                         DifferencesOfRuns(gathered, kernel, batches, 1, now.size()),
                         (change.time.base + change.time.now) / 2});
  }
  const auto widths = HalfWidthsOverRuns(of_runs);
  for (size_t i = 0; i < widths.size(); ++i)
    changes[i].time.half_width = std::max(*changes[i].time.half_width, widths[i].value_or(0));
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
  // Takes the largest kMostRenamed kernels of a kind: every gone kernel is compared with every new
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
      if (std::abs(fresh->now_calls / gone->base_calls - 1) <= kSameCalls && apart <= kSamePlace)
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
