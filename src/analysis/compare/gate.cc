#include "analysis/compare/gate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/steps/step_grammar.h"
#include "base/closest.h"
#include "base/parse_number.h"

namespace tacho {
namespace {

constexpr size_t kLongest = 200;
constexpr std::array<std::string_view, 5> kFirstWords = {"prefill", "decode", "mixed", "other",
                                                         "whole"};

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The phase that a metric begins with: "decode" for "decode.idle"; "" if it has none.
std::string_view PhaseOf(std::string_view metric) {
  const std::string_view first = metric.substr(0, metric.find('.'));
  return first.size() < metric.size() && std::ranges::find(kFirstWords, first) != kFirstWords.end()
             ? first
             : "";
}
std::string_view WithoutPhase(std::string_view metric) {
  const std::string_view phase = PhaseOf(metric);
  return phase.empty() ? metric : metric.substr(phase.size() + 1);
}

bool IsCount(std::string_view metric) { return WithoutPhase(metric).starts_with("kernels."); }
bool IsTime(std::string_view metric) {
  return IsLoadMetric(metric) ? IsLoadTime(metric) : !IsCount(metric);
}

tl::unexpected<Error> Wrong(std::string_view text, std::string problem) {
  return Fail(ErrorKind::kUsage, fmt::format("--fail-on '{}': {}", text, problem));
}

// The first name of `known` that contains the words of `wanted` in a row, as "step.p50" contains
// "p50"; "" if none does.
std::string HoldingTheWords(const std::string& wanted, const std::vector<std::string>& known) {
  for (const std::string& name : known) {
    if (fmt::format(".{}.", name).find(fmt::format(".{}.", wanted)) != std::string::npos)
      return name;
  }
  return "";
}

Result<void> CheckMetric(std::string_view text, const ChangeGate& gate,
                         const std::vector<std::string>& names) {
  const std::vector<std::string> of_load = LoadMetricNames();
  const std::string wanted(WithoutPhase(gate.metric));
  const std::vector<std::string>& known = IsLoadMetric(gate.metric) ? of_load : names;
  if (std::ranges::find(known, wanted) != known.end()) return {};
  const std::string before = gate.metric.substr(0, gate.metric.size() - wanted.size());
  std::string nearest = HoldingTheWords(wanted, known);
  if (nearest.empty()) nearest = Closest(wanted, known);
  if (!nearest.empty()) nearest.insert(0, before);
  if (nearest.empty() && before.empty()) nearest = HoldingTheWords(wanted, of_load);
  if (const size_t dot = wanted.find('.');
      nearest.empty() && dot != std::string::npos &&
      std::ranges::find(known, wanted.substr(dot + 1)) != known.end()) {
    const std::string phase =
        Closest(wanted.substr(0, dot), {kFirstWords.begin(), kFirstWords.end()});
    if (!phase.empty()) nearest = phase + wanted.substr(dot);
  }
  return Wrong(text, fmt::format("no metric is called '{}'{}", gate.metric,
                                 nearest.empty() ? "; tacho compare BASE NEW --csv lists them all"
                                                 : fmt::format(" (did you mean {}?)", nearest)));
}

Result<void> ReadLimit(std::string_view text, std::string_view limit, ChangeGate& gate) {
  const std::string_view whole = limit;
  gate.relative_to_base = limit.starts_with('+') || limit.starts_with('-');
  const double sign = limit.starts_with('-') ? -1 : 1;
  if (gate.relative_to_base) limit.remove_prefix(1);
  const size_t end = std::min(limit.find_first_not_of("0123456789."), limit.size());
  const std::string_view unit = Trimmed(limit.substr(end));  // as tacho writes it: "3 %"
  const auto number = ParseWhole<double>(limit.substr(0, end));
  if (!number) return Wrong(text, "expected a number after the sign of comparison, as in '>+3%'");
  constexpr std::array<std::pair<std::string_view, double>, 6> kUnits = {
      {{"", 1}, {"%", 0.01}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
  const auto found = std::ranges::find(kUnits, unit, &std::pair<std::string_view, double>::first);
  if (found == kUnits.end())
    return Wrong(text, fmt::format("'{}' is not a unit: %, ns, us, ms or s", unit));
  gate.percent = unit == "%";
  if (gate.percent && !gate.relative_to_base)
    return Wrong(text, "a percentage is of base and needs a sign: +3% or -3%");
  if (gate.percent && IsCount(gate.metric))
    return Wrong(text, gate.metric + " is a count of what changed, as in 'kernels.slower>2'");
  if (!gate.percent && IsTime(gate.metric) == unit.empty()) {
    return Wrong(text, unit.empty() ? "a time needs a unit: %, ns, us, ms or s"
                                    : fmt::format("{} is not a time", gate.metric));
  }
  gate.limit = sign * *number * found->second;
  // "step<+3%" would pass only a step that grew by 3 % or more; the user most likely means the
  // opposite.
  const std::string_view metric = WithoutPhase(gate.metric);
  if (metric == "kernels.faster" || metric == "kernels.fewer-calls" || metric == "kernels.gone")
    return {};  // either direction may be wanted
  const bool more_is_better = gate.metric == "load.throughput" || gate.metric == "load.requests";
  const double worse = more_is_better ? -gate.limit : gate.limit;
  if (gate.above == more_is_better && (!gate.relative_to_base || worse >= 0))
    return Wrong(text, fmt::format("a gate says what fails, and this fails unless it is worse: "
                                   "did you mean {}{}{}?",
                                   gate.metric, more_is_better ? '<' : '>', whole));
  return {};
}

bool IsBlock(std::string_view metric) { return metric.starts_with("block."); }

// Whether `metric` is a part of a phase's step, or of the whole recording. A missing part counts as
// 0.
bool IsPartOf(std::string_view phase, std::string_view metric) {
  if (phase == "whole") {
    return metric == "compute" || metric == "comm" || metric == "copy" || metric == "idle" ||
           metric.starts_with("idle.");
  }
  constexpr std::array<std::string_view, 6> kOthers = {"step",   "mean",        "mix",
                                                       "window", "kernel-time", "compute"};
  return std::ranges::find(kOthers, metric) == kOthers.end() && !metric.starts_with("step.") &&
         !IsCount(metric) && !IsBlock(metric);
}

// Whether a figure needs the causes of idle time. In a whole recording with unknown idle time,
// every part except "compute" counts as such a figure.
bool NeedsCauses(std::string_view phase, std::string_view metric, const RunChanges& changes) {
  if (metric.starts_with("idle.")) return true;
  return phase == "whole" && !changes.KnowsIdleTime() && metric != "compute" &&
         IsPartOf(phase, metric);
}

// Whether base has enough steps of this phase, and new has none.
bool IsLost(const PhaseChange& phase) {
  return phase.steps[0] >= kFewestSteps && phase.steps[1] == 0;
}

// Why the comparison does not have this figure, and which figures it has. `compared`: the phases
// that were compared.
std::string WhyNoFigure(std::string_view phase, std::string_view metric,
                        const std::vector<std::string>& compared, const RunChanges& changes) {
  const auto of_phase = std::ranges::find_if(
      changes.phases, [&](const PhaseChange& of) { return PhaseName(of.phase) == phase; });
  if (of_phase != changes.phases.end() && !of_phase->cannot_tell.empty())
    return of_phase->cannot_tell;
  if (std::ranges::find(compared, phase) == compared.end()) {
    if (compared.empty()) return "no phase could be compared";
    if (changes.whole) return "no side names its steps: only 'whole' was compared";
    return fmt::format(
        "{}; compared: {}",
        phase == "whole" ? "both sides name their steps" : "no side has a step of this phase",
        fmt::join(compared, ", "));
  }
  if (phase == "whole")
    return "a whole recording has window, kernel-time, compute, comm, copy, idle and its causes, "
           "kernels.gone and kernels.new";
  if (IsCount(metric)) return "kernels are not compared across engines and GPUs";
  if (metric == "step.p99")
    return fmt::format("it takes {} steps on each side: base has {}, new {}", kFewestForP99,
                       of_phase->steps[0], of_phase->steps[1]);
  if (IsBlock(metric) || (metric.starts_with("step.") && metric != "step.p50"))
    return of_phase->blocks.cannot_tell.empty() ? "no side has this block"
                                                : of_phase->blocks.cannot_tell;
  return fmt::format("{} is a figure of recordings without steps; --csv lists those of steps",
                     metric);
}

using Outcome = GateResult::Outcome;

// `exact`: if the figure has no bounds, judge it by its value.
Outcome Judged(const ChangeGate& gate, const Change& change, bool exact) {
  if (!change.half_width && !exact) return Outcome::kInconclusive;
  const double sign = gate.above ? 1 : -1;
  double value = gate.relative_to_base ? change.difference() : change.now;
  double limit = gate.limit;
  if (gate.percent) limit *= change.base;
  value *= sign;
  limit *= sign;
  const double half = change.half_width.value_or(0);
  if (value - half > limit) return Outcome::kBroken;
  return value + half > limit ? Outcome::kInconclusive : Outcome::kPassed;
}

}  // namespace

Result<ChangeGate> ParseGate(std::string_view text, const std::vector<std::string>& names) {
  ChangeGate gate;
  if (text.size() > kLongest) return Wrong(text.substr(0, 20), "is too long for a gate");
  gate.text = std::string(Trimmed(text));
  const size_t at = text.find_first_of("<>");
  gate.metric = std::string(Trimmed(text.substr(0, at)));
  if (gate.metric.empty()) return Wrong(text, "names no metric");
  TACHO_RETURN_IF_ERROR(CheckMetric(text, gate, names));
  if (at == std::string_view::npos) {
    if (!IsCount(gate.metric))
      return Wrong(text, "a limit is missing, as in '" + gate.metric +
                             ">+3%'; in quotes, for a shell takes > for itself");
    gate.relative_to_base = false;
    return gate;
  }
  gate.above = text[at] == '>';
  TACHO_RETURN_IF_ERROR(ReadLimit(text, Trimmed(text.substr(at + 1)), gate));
  return gate;
}

std::vector<GateResult> Judge(const std::vector<ChangeGate>& gates, const RunChanges& changes,
                              bool without_bounds) {
  const std::vector<MetricChange> metrics = MetricsOf(changes);
  std::vector<std::string> compared;  // names of phases
  for (const PhaseChange& phase : changes.phases) {
    if (phase.cannot_tell.empty()) compared.emplace_back(PhaseName(phase.phase));
  }
  if (changes.whole) compared.emplace_back("whole");
  std::vector<GateResult> results;
  for (const ChangeGate& gate : gates) {
    const std::string_view phase = PhaseOf(gate.metric), metric = WithoutPhase(gate.metric);
    const auto judge = [&](const std::string& name, const Change& change, bool counts) {
      // Counts need no bounds: a kernel is counted only if it differs beyond noise.
      const bool exact = without_bounds || counts || IsLoadCount(name);
      GateResult& result = results.emplace_back();
      result = {gate.text, name, Judged(gate, change, exact), change, counts, {}, false};
      result.of_new_value = !gate.relative_to_base;
    };
    const auto cannot = [&](const std::string& name, std::string why) {
      results.push_back(
          {gate.text, name, Outcome::kInconclusive, std::nullopt, false, std::move(why)});
    };
    const auto cannot_of = [&](std::string_view of) {
      cannot(fmt::format("{}.{}", of, metric), WhyNoFigure(of, metric, compared, changes));
    };
    const auto found_in_metrics = [&](const std::string& name) {
      const auto found = std::ranges::find(metrics, name, &MetricChange::name);
      if (found != metrics.end()) judge(name, found->change, found->counts);
      return found != metrics.end();
    };
    if (IsLoadMetric(gate.metric)) {
      if (found_in_metrics(gate.metric)) continue;
      const auto lacks = changes.load_lacks.find(gate.metric);
      cannot(gate.metric, lacks == changes.load_lacks.end() ? changes.why_no_load : lacks->second);
      continue;
    }
    const size_t before = results.size();
    for (const std::string& of : compared) {
      if (!phase.empty() && phase != of) continue;
      const std::string name = fmt::format("{}.{}", of, metric);
      // Steps before a cut are complete, so only damage matters for them.
      std::string why = of == "whole" ? changes.WhyIncomplete() : changes.WhyDamaged();
      if (why.empty() && NeedsCauses(of, metric, changes)) why = changes.WhyNoIdleCauses();
      if (!why.empty()) {
        cannot(name, why);
        continue;
      }
      if (found_in_metrics(name)) continue;
      if (IsPartOf(of, metric))
        judge(name, Change{0, 0, 0.0}, false);
      else
        cannot_of(of);
    }
    for (const PhaseChange& of : changes.phases) {
      if (phase.empty() && IsLost(of)) cannot_of(PhaseName(of.phase));
    }
    if (results.size() == before)
      cannot(gate.metric, WhyNoFigure(phase, metric, compared, changes));
  }
  return results;
}

std::vector<std::string> NotJudged(const std::vector<ChangeGate>& gates,
                                   const RunChanges& changes) {
  std::vector<std::string> sentences;
  const bool any = std::ranges::any_of(gates, [](const ChangeGate& gate) {
    return !IsLoadMetric(gate.metric) && PhaseOf(gate.metric).empty();
  });
  for (const PhaseChange& phase : changes.phases) {
    if (any && !phase.cannot_tell.empty() && !IsLost(phase)) {
      sentences.push_back(fmt::format("gates without a phase do not look at {}: {}",
                                      PhaseName(phase.phase), phase.cannot_tell));
    }
  }
  return sentences;
}

}  // namespace tacho
