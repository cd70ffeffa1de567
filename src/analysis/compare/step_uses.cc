#include "analysis/compare/step_uses.h"

#include <algorithm>
#include <cmath>

#include "analysis/compare/quantiles.h"
#include "analysis/compare/run_noise.h"

namespace tacho {
namespace {

constexpr double kAlpha = 0.005;  // the probability that any unchanged use is reported
constexpr double kManySteps = 1e6;
// How far the calls in a step may be from a whole number: one odd step in a hundred.
constexpr double kSomeSteps = 0.01;

double ValueOf(const std::map<StepBatch, std::array<OfRuns, 2>>& sums, const StepBatch& batch,
               size_t side, size_t run) {
  const auto at = sums.find(batch);
  return at == sums.end() || run >= at->second[side].size() ? 0 : at->second[side][run];
}

// Whether a group of batches can show that the use changed. On each side, the devices that run
// the use in any group must have at least two steps in this group, which show how its time
// varies.
bool CanCompare(const StepUse& use, const std::array<UseInGroup, 2>& groups) {
  if (groups[0].calls + groups[1].calls == 0) return false;
  for (size_t side = 0; side < 2; ++side) {
    if (use.runs_on[side] && groups[side].steps < 2) return false;
  }
  return true;
}

// For each run of one side: the use's time per step at equal batch, in this run against all runs
// of the other side together (now minus base). Runs without steps in any of `batches` get no value.
OfRuns DifferencesOfRuns(const StepUses& gathered, const StepUse& use, const SharedBatches& batches,
                         size_t side) {
  OfRuns differences;
  for (size_t run = 0; run < gathered.runs[side]; ++run) {
    double weighed = 0, sum = 0;
    for (const auto& [batch, shared] : batches) {
      if (ValueOf(gathered.steps_of_runs, batch, side, run) == 0) continue;
      weighed += shared.weight;
      const auto groups = use.groups.find(batch);
      if (groups == use.groups.end() || !CanCompare(use, groups->second)) continue;
      const double steps = ValueOf(use.steps_of_runs, batch, side, run);
      const double own = steps == 0 ? 0 : ValueOf(use.totals, batch, side, run) / steps;
      const UseInGroup& of_other = groups->second[1 - side];
      const double other = of_other.steps == 0 ? 0 : of_other.total / of_other.steps;
      sum += shared.weight * (side == 0 ? other - own : own - other);
    }
    if (weighed > 0) differences.push_back(sum / weighed);
  }
  return differences;
}

bool InSomeSteps(const UseInGroup& group) {
  if (group.steps == 0) return false;
  const double each = group.calls / group.steps;
  return std::abs(each - std::round(each)) > kSomeSteps;
}

// Whether the use runs in only some steps of `phase`: one group that shows it is enough.
bool InSomeSteps(const StepUse& use, Phase phase) {
  return std::ranges::any_of(use.groups, [&](const auto& group) {
    return group.first.phase == phase &&
           (InSomeSteps(group.second[0]) || InSomeSteps(group.second[1]));
  });
}

// Whether the use may run in only some steps of the group. This is so if the sides differ in
// calls and a side has windows with only one step, since one step cannot show in how many the
// use runs.
bool MayBeInSomeSteps(const std::array<UseInGroup, 2>& groups) {
  const auto& [base, now] = groups;
  const bool other_calls =
      base.steps == 0 || now.steps == 0 || base.calls * now.steps != now.calls * base.steps;
  const auto is_single = [](const UseInGroup& side) { return side.steps < 2 * side.windows; };
  return other_calls && (is_single(base) || is_single(now));
}

// What the bound of a use's time is made of.
struct UseNoise {
  // The variance from groups in which the use runs in all steps, and the variance from groups in
  // which it runs in only some steps.
  double variance = 0, in_some_steps = 0;
  double uncertainty = 0;  // how uncertain the variances are
  double from_sizes = 0;   // the effect of different batch sizes
  double one_step = 0;     // the effect of one step more or less in each window
  double windows = 1;      // of one run, in groups in which the use runs in only some steps

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

double SquaresAroundMean(const UseInGroup& group) {
  return group.steps == 0 ? 0
                          : std::max(0.0, group.squares - group.total * group.total / group.steps);
}

// Adds the use's figures in one group of batches to `change` and `noise`. `some`: the use
// runs in only some steps. `runs`: the number of runs, by side.
void AddGroup(const std::array<UseInGroup, 2>& groups, const SharedBatch& shared, bool some,
              const std::array<size_t, 2>& runs, KernelChange& change, UseNoise& noise) {
  const double weight = shared.weight;
  const auto& [base, now] = groups;
  // If the use is gone or new, batch sizes do not explain that.
  if (base.calls > 0 && now.calls > 0)
    noise.from_sizes += weight * shared.size_shift * base.total / base.steps;
  UseInGroup both{0, base.total + now.total, base.squares + now.squares,
                  0, base.steps + now.steps, 0};
  double one_step = 0;
  for (size_t side = 0; side < 2; ++side) {
    const UseInGroup& group = groups[side];
    if (group.steps == 0) continue;
    (side == 0 ? change.time.base : change.time.now) += weight * group.total / group.steps;
    (side == 0 ? change.base_calls : change.now_calls) += weight * group.calls / group.steps;
    const UseInGroup& of = some ? both : group;
    const double freedom = std::max(1.0, of.steps - 1);
    noise.Add(weight * weight * SquaresAroundMean(of) / freedom / group.steps, freedom, some);
    if (!some) continue;
    // If no device of the other side runs the use, that side is taken to have as many windows.
    const int sides = groups[1 - side].steps == 0 ? 2 : 1;
    one_step += weight * sides * group.windows / group.steps;
    noise.windows = std::max(noise.windows, group.windows / static_cast<double>(runs[side]));
  }
  // The bound allows for one step more or less in which the use runs. This step is in only one
  // of the groups, hence the maximum over groups. If the use takes either no time in a step or
  // always the same time, this time is the sum of squares divided by the sum.
  const double time_of_step = both.total > 0 ? both.squares / both.total : 0;
  const double time_of_call = both.total / (base.calls + now.calls);
  noise.one_step = std::max(noise.one_step, one_step * time_of_step);
  change.calls_half_width =
      std::max(change.calls_half_width, one_step * time_of_step / time_of_call);
}

}  // namespace

std::vector<KernelChange> CompareUses(const StepUses& gathered, const SharedBatches& batches,
                                      double spread) {
  std::vector<KernelChange> changes;
  std::vector<FigureOfRuns> of_runs;  // one for each change; empty with one run on each side
  const double level =
      1 - kAlpha / (2 * std::max<double>(1, static_cast<double>(gathered.uses.size())));
  for (const auto& [name, use] : gathered.uses) {
    KernelChange& change = changes.emplace_back();
    change.name = name;
    change.category = use.category;
    UseNoise noise;
    std::array<double, 2> all_calls{}, places{};
    for (const auto& [batch, groups] : use.groups) {
      for (size_t side = 0; side < 2; ++side) {
        all_calls[side] += groups[side].calls;
        places[side] += groups[side].places;
      }
      if (CanCompare(use, groups))
        AddGroup(groups, batches.at(batch),
                 InSomeSteps(use, batch.phase) || MayBeInSomeSteps(groups), gathered.runs, change,
                 noise);
    }
    change.base_place = all_calls[0] == 0 ? 0 : places[0] / all_calls[0];
    change.now_place = all_calls[1] == 0 ? 0 : places[1] / all_calls[1];
    change.time.half_width = noise.HalfWidth(level, spread);
    if (gathered.runs[0] + gathered.runs[1] > 2)
      of_runs.push_back({DifferencesOfRuns(gathered, use, batches, 0),
                         DifferencesOfRuns(gathered, use, batches, 1),
                         (change.time.base + change.time.now) / 2});
  }
  const auto widths = HalfWidthsOverRuns(of_runs);
  for (size_t i = 0; i < widths.size(); ++i)
    changes[i].time.half_width = std::max(*changes[i].time.half_width, widths[i].value_or(0));
  return changes;
}

}  // namespace tacho
