#include "analysis/compare/compare_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "analysis/compare/block_changes.h"
#include "analysis/compare/comparable.h"
#include "analysis/compare/kernel_changes.h"
#include "analysis/compare/quantiles.h"
#include "analysis/compare/step_differences.h"
#include "analysis/ranks/rank_counts.h"

namespace tacho {
namespace {

using Extra = StepDifferences::Extra;

constexpr size_t kDraws = 2000;
constexpr uint64_t kSeed = 20'260'101;
constexpr double kOutside = 0.005;  // probability that any figure of a phase is outside its bounds
constexpr double kRunQuantile = 0.995;
constexpr double kLeastHalfWidth = 1;  // ns: the resolution of the clock

struct PhaseSteps {
  Phase phase;
  StepDifferences differences;
  std::vector<double> errors;  // standard errors, one for each figure
  double critical = 0;         // the half-width of all bounds, in standard errors
};

double Squared(double x) { return x * x; }

// Sorts by the absolute difference, then by size.
void LargestFirst(std::vector<NamedChange>& rows) {
  std::ranges::stable_sort(rows, std::greater{}, [](const NamedChange& row) {
    return std::pair(std::abs(row.change.difference()), row.change.base);
  });
}

void DrawErrors(PhaseSteps& steps) {
  const double blocks = steps.differences.fewest_blocks();
  const auto drawn = steps.differences.Draw(kDraws, kSeed + static_cast<uint64_t>(steps.phase));
  const size_t figures = steps.differences.base().size();
  // A bootstrap over b blocks finds only (b - 1) / b of the variance.
  const double missing = std::sqrt(blocks / (blocks - 1));
  std::vector<double> farthest(kDraws);
  for (size_t i = 0; i < figures; ++i) {
    const double measured = steps.differences.now()[i] - steps.differences.base()[i];
    double sum = 0;
    for (const auto& draw : drawn) sum += Squared(draw[i] - measured);
    const double error = std::sqrt(sum / kDraws) * missing;
    steps.errors.push_back(error);
    if (!(error > 0)) continue;
    for (size_t draw = 0; draw < kDraws; ++draw)
      farthest[draw] = std::max(farthest[draw], std::abs(drawn[draw][i] - measured) / error);
  }
  std::ranges::sort(farthest);
  steps.critical = farthest[static_cast<size_t>((1 - kOutside) * kDraws)];
}

// By figure: the half-width that the differences between runs require. The half-widths of parts
// hold for all parts at once; those of other figures hold for one figure each.
std::vector<std::optional<double>> RunHalfWidths(const StepDifferences& differences, size_t parts) {
  std::vector<FigureOfRuns> of_parts = differences.FiguresOfRuns();
  const std::vector<FigureOfRuns> others(of_parts.begin() + static_cast<ptrdiff_t>(parts),
                                         of_parts.end());
  of_parts.resize(parts);
  std::vector<std::optional<double>> widths = HalfWidthsOverRuns(of_parts);
  for (const FigureOfRuns& figure : others)
    widths.push_back(HalfWidthOverRuns(figure.base, figure.now));
  return widths;
}

std::vector<BatchChange> BatchesOf(const SideSamples& base, const SideSamples& now) {
  std::map<StepBatch, BatchChange> batches;
  for (const bool is_base : {true, false}) {
    for (const StepSample& sample : (is_base ? base : now).samples) {
      BatchChange& batch = batches[sample.batch];
      batch.batch = sample.batch;
      ++batch.steps[is_base ? 0 : 1];
      (is_base ? batch.time.base : batch.time.now) += sample.ns.back();
    }
  }
  std::vector<BatchChange> both;
  for (auto& [key, batch] : batches) {
    if (batch.steps[0] == 0 || batch.steps[1] == 0) continue;
    batch.time.base /= static_cast<double>(batch.steps[0]);
    batch.time.now /= static_cast<double>(batch.steps[1]);
    both.push_back(batch);
  }
  return both;
}

// Counts the steps of one phase, with or without work on a device.
uint64_t StepsOf(const SideRanks& runs, Phase phase) {
  uint64_t steps = 0;
  for (const RunRanks& run : runs) {
    for (const TraceAnalysis* trace : run)
      for (const Step& step : trace->steps.steps) steps += step.label.phase == phase;
  }
  return steps;
}

struct WhyNotCompared {
  std::string text;
  bool no_length = false;  // a side has steps, but the length of none is known
};

// Why `side` has no step of known length in this phase.
WhyNotCompared NoStepText(std::string_view name, const SideFacts& side, uint64_t steps,
                          Phase phase) {
  if (steps == 0) return {fmt::format("{} has no step of this phase", name)};
  if (const std::string untimed = side.evidence.UntimedSteps(phase); !untimed.empty()) {
    // Mention the steps that do have a device time only if there are enough to compare.
    const SideEvidence::Steps& of_phase = side.evidence.steps.at(phase);
    const bool others =
        !side.evidence.idle_known && of_phase.all - of_phase.untimed >= kFewestSteps;
    return {fmt::format("{} lacks the device time of {}{}: record it again", RunOf(name), untimed,
                        others ? ", and when its device was idle is unknown" : "")};
  }
  const std::string there = fmt::format("{} has {} of this phase, ", name,
                                        steps == 1 ? "one step" : fmt::format("{} steps", steps));
  if (!side.evidence.idle_known && side.evidence.lost_work())
    return {fmt::format("{}but when its device was idle is unknown: it lost {}", there,
                        side.evidence.LostCalls())};
  return {there + "but none of known length", true};
}

// Such as "; the new run lacks the device time of 35 of its 40 decode steps", for each side that
// lacks any.
std::string AndUntimedSteps(const RunChanges& changes, Phase phase) {
  std::string text;
  for (const auto& [name, side] : {std::pair("base", &changes.base), {"new", &changes.now}}) {
    if (const std::string untimed = side->evidence.UntimedSteps(phase); !untimed.empty())
      text += fmt::format("; {} lacks the device time of {}", RunOf(name), untimed);
  }
  return text;
}

WhyNotCompared WhyNot(const ComparedRanks& ranks, Phase phase, const StepDifferences& differences,
                      const RunChanges& changes) {
  const auto [base, now] = differences.steps();
  if (base == 0) return NoStepText("base", changes.base, StepsOf(ranks.base, phase), phase);
  if (now == 0) return NoStepText("new", changes.now, StepsOf(ranks.now, phase), phase);
  const std::string untimed = AndUntimedSteps(changes, phase);
  if (differences.batches().empty())
    return {"the two sides have no batch size in common with two steps on each" + untimed};
  const auto [base_shared, now_shared] = differences.shared_steps();
  return {
      fmt::format("too few steps of equal batch to tell noise: base {} of {}, new {} of {}; "
                  "8 of each rank are needed{}",
                  base_shared, base, now_shared, now, untimed)};
}

void SetFigures(const PhaseSteps& steps, const PartNumbers& parts, PhaseChange& phase) {
  const StepDifferences& differences = steps.differences;
  const auto of_runs = RunHalfWidths(differences, parts.size());
  phase.bounds_hold_runs = of_runs[parts.size() + Extra::kStepAtEqualBatch].has_value();
  // With few blocks the standard errors are uncertain themselves, so widen the bounds.
  const double few = StudentQuantile(kRunQuantile, differences.fewest_blocks() - 1.0) /
                     StudentQuantile(kRunQuantile, 1e6);
  const auto change = [&](size_t i) {
    double half = steps.critical * few * steps.errors[i] + differences.from_sizes()[i];
    half = std::max({half, of_runs[i].value_or(0), kLeastHalfWidth});
    return Change{differences.base()[i], differences.now()[i], half};
  };
  const size_t extras = parts.size();
  phase.step = change(extras + Extra::kStepAtEqualBatch);
  phase.mean = change(extras + Extra::kMeanOfAll);
  phase.mix = change(extras + Extra::kMix);
  if (!std::isnan(differences.base()[extras + Extra::kP50]))
    phase.p50 = change(extras + Extra::kP50);
  if (!std::isnan(differences.base()[extras + Extra::kP99]))
    phase.p99 = change(extras + Extra::kP99);
  for (const auto& [name, part] : parts) {
    const Change of_part = change(part);
    if (of_part.base != 0 || of_part.now != 0) phase.parts.push_back({name, of_part});
  }
  LargestFirst(phase.parts);
}

// Which parts of a whole recording are known on both sides. kCompute: compute, and all other time
// together. kIdle: idle time too. kIdleCauses: the causes of idle time too.
enum class KnownParts : uint8_t { kCompute, kIdle, kIdleCauses };
KnownParts PartsKnown(const RunChanges& changes) {
  if (!changes.KnowsIdleTime()) return KnownParts::kCompute;
  return changes.WhyNoIdleCauses().empty() ? KnownParts::kIdleCauses : KnownParts::kIdle;
}

// Adds the trace's time in each part to `sums`, in ns.
void AddParts(const TraceAnalysis& trace, KnownParts known, std::map<std::string, double>& sums) {
  const auto add = [&](std::string_view part, DurationNs time) {
    sums[std::string(part)] += static_cast<double>(time.ns);
  };
  for (const DeviceTime& device : trace.devices) {
    add("compute", device.compute);
    if (known == KnownParts::kCompute) {
      add(kNotCompute, device.window.length() - device.compute);
      continue;
    }
    add("comm", device.exposed_comm);
    add("copy", device.exposed_copy);
  }
  if (known == KnownParts::kCompute) return;
  for (const IdleCauseRow& row : trace.idle.causes) {
    add(known == KnownParts::kIdle ? kAllIdle : "idle." + std::string(IdleCauseId(row.cause)),
        row.total);
  }
}

// Compares whole recordings; figures are averages over all devices of all runs.
WholeChange CompareWhole(const std::vector<RunAnalysis>& base, const std::vector<RunAnalysis>& now,
                         const ComparedRanks& ranks, KnownParts known) {
  WholeChange whole;
  std::map<std::string, Change> parts;
  std::array<double, 2> all_devices{};
  for (const bool is_base : {true, false}) {
    const std::vector<RunAnalysis>& runs = is_base ? base : now;
    const SideRanks& of_side = is_base ? ranks.base : ranks.now;
    double& devices = all_devices[is_base ? 0 : 1];
    std::map<std::string, double> sums;
    double window = 0, kernels = 0;
    for (size_t run = 0; run < runs.size(); ++run) {
      devices += static_cast<double>(CountRanks(runs[run], of_side[run]).devices);
      for (const TraceAnalysis* trace : of_side[run]) {
        for (const DeviceTime& device : trace->devices) {
          window += static_cast<double>(device.window.length().ns);
          kernels += static_cast<double>(device.kernel_sum.ns);
        }
        AddParts(*trace, known, sums);
      }
    }
    const auto set = [&](Change& change, double sum) {
      (is_base ? change.base : change.now) = devices == 0 ? 0 : sum / devices;
    };
    set(whole.window, window);
    set(whole.kernels, kernels);
    for (const auto& [name, sum] : sums) set(parts[name], sum);
  }
  for (const auto& [name, change] : parts) {
    if (change.base != 0 || change.now != 0) whole.parts.push_back({name, change});
  }
  LargestFirst(whole.parts);
  whole.rows = CompareKernelTotals(ranks, all_devices);
  return whole;
}

// Compares a figure per step: the total of `sum` over all traces, divided by the number of steps.
Change OfOneStep(const ComparedRanks& ranks,
                 const std::function<double(const TraceAnalysis&)>& sum) {
  Change change;
  for (const bool is_base : {true, false}) {
    double all = 0, steps = 0;
    for (const RunRanks& run : is_base ? ranks.base : ranks.now) {
      for (const TraceAnalysis* trace : run) {
        all += sum(*trace);
        steps += static_cast<double>(trace->steps.steps.size());
      }
    }
    (is_base ? change.base : change.now) = steps == 0 ? 0 : all / steps;
  }
  return change;
}

void CompareHost(const ComparedRanks& ranks, RunChanges& changes) {
  using Sum = std::function<double(const TraceAnalysis&)>;
  const auto add = [&](std::string name, const Sum& sum) {
    const Change change = OfOneStep(ranks, sum);
    if (change.base != 0 || change.now != 0) changes.launches.push_back({std::move(name), change});
  };
  if (changes.WhyIncomplete().empty() &&
      changes.base.evidence.cut_off + changes.now.evidence.cut_off == 0)
    add("GPU work",
        [](const TraceAnalysis& t) { return static_cast<double>(t.launches.gpu_events); });
  if (WhyNoCalls(changes.base.evidence, changes.now.evidence).empty()) {
    add("graph launches",
        [](const TraceAnalysis& t) { return static_cast<double>(t.launches.graph_calls.count); });
    add("host calls", [](const TraceAnalysis& t) {
      double calls = 0;
      for (const ApiRow& row : t.launches.apis) calls += static_cast<double>(row.stats.count);
      return calls;
    });
  }
  std::map<std::string, Change> operators;
  for (const bool is_base : {true, false}) {
    double steps = 0;
    std::map<std::string, double> self;
    for (const RunRanks& run : is_base ? ranks.base : ranks.now) {
      for (const TraceAnalysis* trace : run) {
        steps += static_cast<double>(trace->steps.steps.size());
        for (const OpRow& row : trace->ops.rows) {
          if (!row.annotation) self[row.name] += static_cast<double>(row.cpu_self.ns);
        }
      }
    }
    for (const auto& [name, ns] : self)
      (is_base ? operators[name].base : operators[name].now) = steps == 0 ? 0 : ns / steps;
  }
  for (const auto& [name, change] : operators) changes.operators.push_back({name, change});
  LargestFirst(changes.operators);
}

// Compares launches and operators, unless a recording is cut off; then a remark says so.
void AddHost(const ComparedRanks& ranks, RunChanges& changes) {
  const std::string why = changes.WhyIncomplete();
  const bool is_cut = changes.IsCut();
  const uint64_t cut_off = changes.base.evidence.cut_off + changes.now.evidence.cut_off;
  if (why.empty() && cut_off > 0 && changes.AnythingCompared())
    changes.remarks.push_back(fmt::format(
        "GPU work of a step: not compared, the recordings end before the work of {} calls",
        cut_off));
  if (!is_cut) CompareHost(ranks, changes);
  if (!why.empty() && changes.AnythingCompared())
    changes.remarks.push_back(fmt::format(
        "{}: not compared, {}", is_cut ? "launches and operators" : "GPU work of a step", why));
  const std::string no_calls = WhyNoCalls(changes.base.evidence, changes.now.evidence);
  if (!is_cut && !no_calls.empty() && changes.AnythingCompared())
    changes.remarks.push_back("launches of a step: not compared, " + no_calls);
}

// Adds remarks on phases in which many steps have no device time, unless remarks on lost work
// already say so.
void AddRemarksOfFewSteps(RunChanges& changes) {
  constexpr double kMany = 0.1;
  for (const PhaseChange& phase : changes.phases) {
    for (const auto& [name, side] : {std::pair("base", &changes.base), {"new", &changes.now}}) {
      const auto steps = side->evidence.steps.find(phase.phase);
      if (!phase.cannot_tell.empty() || steps == side->evidence.steps.end()) continue;
      const auto [all, untimed] = steps->second;
      if (!side->evidence.lost_work() &&
          static_cast<double>(untimed) > kMany * static_cast<double>(all))
        changes.remarks.push_back(fmt::format("{} lacks the device time of {}", RunOf(name),
                                              side->evidence.UntimedSteps(phase.phase)));
    }
  }
}

void AddRemarkOfCauses(RunChanges& changes) {
  const std::string why = changes.WhyNoIdleCauses();
  if (!why.empty() && changes.KnowsIdleTime() && changes.AnythingCompared())
    changes.remarks.push_back("causes of idle time: not compared, " + why);
}

// Compares collectives if no rank is left out, because the figures are sums over all ranks.
void AddCollectives(const std::vector<RunAnalysis>& base, const std::vector<RunAnalysis>& now,
                    RunChanges& changes) {
  if (std::ranges::any_of(changes.unequal, &UnequalRank::is_left_out)) return;
  changes.collectives = CompareCollectives(base, now);
  const std::string why = WhyNoCollectives(base, now);
  if (!changes.collectives && !why.empty() && changes.AnythingCompared())
    changes.remarks.push_back("waits for other ranks: not compared, " + why);
}

bool NamesSteps(const std::vector<RunAnalysis>& runs) {
  return std::ranges::any_of(runs, [](const RunAnalysis& run) {
    return std::ranges::any_of(
        run.traces, [](const TraceAnalysis& trace) { return !trace.step_profile.rows.empty(); });
  });
}

}  // namespace

RunChanges CompareRuns(const std::vector<RunAnalysis>& base, const std::vector<RunAnalysis>& now,
                       bool across) {
  RunChanges changes;
  changes.across = across;
  const bool by_steps = NamesSteps(base) || NamesSteps(now);
  ComparedRanks ranks = RanksToCompare(base, now, by_steps);
  changes.base = FactsOf(base, ranks.base);
  changes.now = FactsOf(now, ranks.now);
  changes.on_both_sides = RunsOnBothSides(base, now);
  changes.unequal = std::move(ranks.unequal);
  changes.other_ranks = ranks.none_common;
  if (std::string left_out = LeftOutText(changes.unequal); !left_out.empty())
    changes.remarks.push_back(std::move(left_out));
  if (!by_steps) {
    changes.whole = CompareWhole(base, now, ranks, PartsKnown(changes));
    AddRemarkOfCauses(changes);
    CheckComparable(changes);
    return changes;
  }
  const PartNumbers parts = NumberParts(ranks.base, ranks.now, changes.WhyNoIdleCauses().empty());
  std::vector<PhaseSteps> compared;
  bool no_length = false;
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode, Phase::kMixed, Phase::kOther}) {
    const SideSamples of_base = SamplesOf(ranks.base, phase, parts),
                      of_now = SamplesOf(ranks.now, phase, parts);
    if (of_base.samples.empty() && of_now.samples.empty()) continue;
    PhaseSteps steps{phase, StepDifferences(of_base, of_now, parts.size()), {}, 0};
    PhaseChange& change = changes.phases.emplace_back();
    change.phase = phase;
    change.steps = steps.differences.steps();
    change.shared_steps = steps.differences.shared_steps();
    if (!steps.differences.enough()) {
      WhyNotCompared why = WhyNot(ranks, phase, steps.differences, changes);
      change.cannot_tell = std::move(why.text);
      no_length |= why.no_length;
      continue;
    }
    change.batches = BatchesOf(of_base, of_now);
    DrawErrors(steps);
    compared.push_back(std::move(steps));
    const double spread =
        std::max(1.0, Squared(compared.back().errors[parts.size() + Extra::kStepAtEqualBatch]) /
                          std::max(1.0, compared.back().differences.independent_variance()));
    const SharedBatches& batches = compared.back().differences.batches();
    change.kernels = CompareKernels(ranks, batches, spread);
    change.blocks = CompareBlocks(ranks, phase, batches, spread);
    change.renamed = ProposeRenamed(change.kernels);
  }
  for (const PhaseSteps& steps : compared) {
    PhaseChange& change = *std::ranges::find(changes.phases, steps.phase, &PhaseChange::phase);
    SetFigures(steps, parts, change);
  }
  if (no_length)
    changes.remarks.emplace_back(
        "a step lasts from its first work on the device to that of the next step");
  AddHost(ranks, changes);
  AddRemarksOfFewSteps(changes);
  AddCollectives(base, now, changes);
  AddRemarkOfCauses(changes);
  CheckComparable(changes);
  if (across) changes.LeaveOut();
  return changes;
}

}  // namespace tacho
