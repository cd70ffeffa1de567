#include "analysis/compare/kernel_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "analysis/compare/quantiles.h"
#include "analysis/compare/run_noise.h"

namespace tacho {
namespace {

constexpr double kAlpha = 0.005;  // the probability that any unchanged kernel is reported
constexpr double kManySteps = 1e6;
constexpr double kSameCalls = 0.02, kSamePlace = 0.1;
// How far the calls in a step may be from a whole number: one odd step in a hundred.
constexpr double kSomeSteps = 0.01;
constexpr size_t kMostRenamed = 500;  // on each side

// One kernel in the steps of one group of batches on one side.
struct InGroup {
  double calls = 0, total = 0, squares = 0, places = 0;
  double steps = 0;  // of the devices that run the kernel in any group
  // The number of windows with such steps: one for each of these devices in each run.
  double windows = 0;
};
// By run: a sum over the steps of one group.
using OfRuns = std::vector<double>;
struct OneKernel {
  std::string category;
  std::array<bool, 2> runs_on{};  // by side: some device runs it in these groups
  std::map<StepBatch, std::array<InGroup, 2>> groups;
  std::map<StepBatch, std::array<OfRuns, 2>> totals, steps_of_runs;
};
struct Gathered {
  std::map<std::string, OneKernel> kernels;  // by name
  // The steps of all devices, whether or not they run a kernel.
  std::map<StepBatch, std::array<OfRuns, 2>> steps_of_runs;
  std::array<size_t, 2> runs{};
};

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
  Gathering(const SharedBatches& batches, Gathered& into) : batches_(batches), into_(into) {}

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
    OneKernel& kernel = into_.kernels[row.name];
    kernel.category = row.category;
    kernel.runs_on[side_] = true;
    InGroup& group = kernel.groups[batch][side_];
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
    OneKernel& kernel = into_.kernels[row.name];
    for (const auto& [batch, count] : steps->second) {
      InGroup& group = kernel.groups[batch][side_];
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
  Gathered& into_;
  size_t side_ = 0, run_ = 0;
};

double ValueOf(const std::map<StepBatch, std::array<OfRuns, 2>>& sums, const StepBatch& batch,
               size_t side, size_t run) {
  const auto at = sums.find(batch);
  return at == sums.end() || run >= at->second[side].size() ? 0 : at->second[side][run];
}

// Whether a group of batches can show that the kernel changed. On each side, the devices that run
// the kernel in any group must have at least two steps in this group, which show how its time
// varies.
bool CanCompare(const OneKernel& kernel, const std::array<InGroup, 2>& groups) {
  if (groups[0].calls + groups[1].calls == 0) return false;
  for (size_t side = 0; side < 2; ++side) {
    if (kernel.runs_on[side] && groups[side].steps < 2) return false;
  }
  return true;
}

// For each run of one side: the kernel's time per step at equal batch, in this run against all runs
// of the other side together (now minus base). Runs without steps in any of `batches` get no value.
OfRuns DifferencesOfRuns(const Gathered& gathered, const OneKernel& kernel,
                         const SharedBatches& batches, size_t side) {
  OfRuns differences;
  for (size_t run = 0; run < gathered.runs[side]; ++run) {
    double weighed = 0, sum = 0;
    for (const auto& [batch, shared] : batches) {
      if (ValueOf(gathered.steps_of_runs, batch, side, run) == 0) continue;
      weighed += shared.weight;
      const auto groups = kernel.groups.find(batch);
      if (groups == kernel.groups.end() || !CanCompare(kernel, groups->second)) continue;
      const double steps = ValueOf(kernel.steps_of_runs, batch, side, run);
      const double own = steps == 0 ? 0 : ValueOf(kernel.totals, batch, side, run) / steps;
      const InGroup& of_other = groups->second[1 - side];
      const double other = of_other.steps == 0 ? 0 : of_other.total / of_other.steps;
      sum += shared.weight * (side == 0 ? other - own : own - other);
    }
    if (weighed > 0) differences.push_back(sum / weighed);
  }
  return differences;
}

bool InSomeSteps(const InGroup& group) {
  if (group.steps == 0) return false;
  const double each = group.calls / group.steps;
  return std::abs(each - std::round(each)) > kSomeSteps;
}

// Whether the kernel runs in only some steps of `phase`: one group that shows it is enough.
bool InSomeSteps(const OneKernel& kernel, Phase phase) {
  return std::ranges::any_of(kernel.groups, [&](const auto& group) {
    return group.first.phase == phase &&
           (InSomeSteps(group.second[0]) || InSomeSteps(group.second[1]));
  });
}

// Whether the kernel may run in only some steps of the group. This is so if the sides differ in
// calls and a side has windows with only one step, since one step cannot show in how many the
// kernel runs.
bool MayBeInSomeSteps(const std::array<InGroup, 2>& groups) {
  const auto& [base, now] = groups;
  const bool other_calls =
      base.steps == 0 || now.steps == 0 || base.calls * now.steps != now.calls * base.steps;
  const auto is_single = [](const InGroup& side) { return side.steps < 2 * side.windows; };
  return other_calls && (is_single(base) || is_single(now));
}

// What the bound of a kernel's time is made of.
struct KernelNoise {
  // The variance from groups in which the kernel runs in all steps, and the variance from groups in
  // which it runs in only some steps.
  double variance = 0, in_some_steps = 0;
  double uncertainty = 0;  // how uncertain the variances are
  double from_sizes = 0;   // the effect of different batch sizes
  double one_step = 0;     // the effect of one step more or less in each window
  double windows = 1;      // of one run, in groups in which the kernel runs in only some steps

  void Add(double of_group, double freedom, bool some) {
    (some ? in_some_steps : variance) += of_group;
    uncertainty += of_group * of_group / freedom;
  }
  [[nodiscard]] double HalfWidth(double level, double spread) const {
    const double all = variance + in_some_steps;
    // Welch-Satterthwaite: degrees of freedom of a sum of variances.
    const double freedom = uncertainty > 0 ? all * all / uncertainty : kManySteps;
    const double widened = variance * spread + in_some_steps * std::max(spread, windows);
    return std::max(1.0,
                    StudentQuantile(level, freedom) * std::sqrt(widened) + from_sizes + one_step);
  }
};

double SquaresAroundMean(const InGroup& group) {
  return group.steps == 0 ? 0
                          : std::max(0.0, group.squares - group.total * group.total / group.steps);
}

// Adds the kernel's figures in one group of batches to `change` and `noise`. `some`: the kernel
// runs in only some steps. `runs`: the number of runs, by side.
void AddGroup(const std::array<InGroup, 2>& groups, const SharedBatch& shared, bool some,
              const std::array<size_t, 2>& runs, KernelChange& change, KernelNoise& noise) {
  const double weight = shared.weight;
  const auto& [base, now] = groups;
  // If the kernel is gone or new, batch sizes do not explain that.
  if (base.calls > 0 && now.calls > 0)
    noise.from_sizes += weight * shared.size_shift * base.total / base.steps;
  InGroup both{0, base.total + now.total, base.squares + now.squares, 0, base.steps + now.steps, 0};
  double one_step = 0;
  for (size_t side = 0; side < 2; ++side) {
    const InGroup& group = groups[side];
    if (group.steps == 0) continue;
    (side == 0 ? change.time.base : change.time.now) += weight * group.total / group.steps;
    (side == 0 ? change.base_calls : change.now_calls) += weight * group.calls / group.steps;
    const InGroup& of = some ? both : group;
    const double freedom = std::max(1.0, of.steps - 1);
    noise.Add(weight * weight * SquaresAroundMean(of) / freedom / group.steps, freedom, some);
    if (!some) continue;
    // If no device of the other side runs the kernel, that side is taken to have as many windows.
    const int sides = groups[1 - side].steps == 0 ? 2 : 1;
    one_step += weight * sides * group.windows / group.steps;
    noise.windows = std::max(noise.windows, group.windows / static_cast<double>(runs[side]));
  }
  // The bound allows for one step more or less in which the kernel runs. This step is in only one
  // of the groups, hence the maximum over groups. If the kernel takes either no time in a step or
  // always the same time, this time is the sum of squares divided by the sum.
  const double time_of_step = both.total > 0 ? both.squares / both.total : 0;
  const double time_of_call = both.total / (base.calls + now.calls);
  noise.one_step = std::max(noise.one_step, one_step * time_of_step);
  change.calls_half_width =
      std::max(change.calls_half_width, one_step * time_of_step / time_of_call);
}

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
  Gathered gathered;
  Gathering gathering(batches, gathered);
  gathering.Add(ranks.base, 0);
  gathering.Add(ranks.now, 1);
  std::vector<KernelChange> changes;
  std::vector<FigureOfRuns> of_runs;  // one for each change; empty with one run on each side
  const double level =
      1 - kAlpha / (2 * std::max<double>(1, static_cast<double>(gathered.kernels.size())));
  for (const auto& [name, kernel] : gathered.kernels) {
    KernelChange& change = changes.emplace_back();
    change.name = name;
    change.category = kernel.category;
    KernelNoise noise;
    std::array<double, 2> all_calls{}, places{};
    for (const auto& [batch, groups] : kernel.groups) {
      for (size_t side = 0; side < 2; ++side) {
        all_calls[side] += groups[side].calls;
        places[side] += groups[side].places;
      }
      if (CanCompare(kernel, groups))
        AddGroup(groups, batches.at(batch),
                 InSomeSteps(kernel, batch.phase) || MayBeInSomeSteps(groups), gathered.runs,
                 change, noise);
    }
    change.base_place = all_calls[0] == 0 ? 0 : places[0] / all_calls[0];
    change.now_place = all_calls[1] == 0 ? 0 : places[1] / all_calls[1];
    change.time.half_width = noise.HalfWidth(level, spread);
    if (gathered.runs[0] + gathered.runs[1] > 2)
      of_runs.push_back({DifferencesOfRuns(gathered, kernel, batches, 0),
                         DifferencesOfRuns(gathered, kernel, batches, 1),
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
