#include "analysis/compare/comparable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/ranks/rank_counts.h"

namespace tacho {
namespace {

constexpr double kLeastShared = 0.25;
constexpr double kOneFactor = 0.8;  // the share of kernel time to which one factor must apply
constexpr double kSameFactor = 0.02;
constexpr double kOtherPrompts = 1.25;
constexpr double kCallsOfLayers = 4;  // kernels with fewer calls in a step are not of each layer

std::string Joined(const std::set<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string OrUnknown(const std::string& text) { return text.empty() ? "unknown" : text; }

std::string Runs(uint64_t runs) { return runs == 1 ? "1 run" : fmt::format("{} runs", runs); }
std::string Ranks(const SideFacts& side) {
  return side.ranks == 1 ? "1 rank" : fmt::format("{} ranks", side.ranks);
}

// The share of kernel time, summed over both sides, in kernels that run on both sides.
double SharedTime(const std::vector<KernelChange>& kernels) {
  double shared = 0, all = 0;
  for (const KernelChange& kernel : kernels) {
    all += kernel.time.base + kernel.time.now;
    if (kernel.base_calls > 0 && kernel.now_calls > 0) shared += kernel.time.base + kernel.time.now;
  }
  return all == 0 ? 1 : shared / all;
}

// How many times as often new calls its layer kernels as base does: one factor that holds for most
// of their time. nullopt if there is no such factor, or if it is 1.
std::optional<double> FactorOfLayers(const std::vector<KernelChange>& kernels) {
  std::vector<std::pair<double, double>> factors;  // the factor and the kernel's time
  double all = 0;
  for (const KernelChange& kernel : kernels) {
    if (std::min(kernel.base_calls, kernel.now_calls) < kCallsOfLayers) continue;
    factors.emplace_back(kernel.now_calls / kernel.base_calls, kernel.time.base);
    all += kernel.time.base;
  }
  if (factors.size() < 2) return std::nullopt;
  std::ranges::sort(factors);
  double before = 0;
  for (const auto& [factor, time] : factors) {
    before += time;
    if (2 * before < all) continue;
    double same = 0;
    for (const auto& [other, of_other] : factors) {
      if (std::abs(other / factor - 1) <= kSameFactor) same += of_other;
    }
    if (same < kOneFactor * all || std::abs(factor - 1) <= kSameFactor) return std::nullopt;
    return factor;
  }
  return std::nullopt;
}

// Names a trace that two runs have in common, in the words of RunChanges::on_both_sides; "" if they
// have none.
std::string SharedWork(const RunAnalysis& a, const RunAnalysis& b) {
  std::string part;
  for (const TraceAnalysis* trace : RanksOf(a)) {
    for (const TraceAnalysis* other : RanksOf(b)) {
      if (!IsSameTrace(*trace, *other)) continue;
      if (trace->scope == other->scope) return trace->path;
      if (part.empty()) part = "a part of " + trace->path;
    }
  }
  return part;
}

// Whether both runs are the same work as a whole, not only in part.
bool IsEqualRun(const RunAnalysis& a, const RunAnalysis& b) {
  const std::vector<const TraceAnalysis*> ranks = RanksOf(a), others = RanksOf(b);
  return ranks.size() == others.size() &&
         std::ranges::all_of(ranks, [&](const TraceAnalysis* trace) {
           return std::ranges::any_of(others, [&](const TraceAnalysis* other) {
             return IsSameTrace(*trace, *other) && trace->scope == other->scope;
           });
         });
}

// Whether a trace states its recording options. A trace without a header does not.
bool SaysOptions(const TraceAnalysis& trace) {
  const TraceHeader& header = trace.header;
  return !trace.facts.options.empty() || header.base_time_ns >= 0 || !header.trace_id.empty() ||
         !header.devices.empty();
}

// Whether any kernel runs on the side that `calls` selects.
bool AnyKernel(const std::vector<KernelChange>& kernels, double KernelChange::*calls) {
  return std::ranges::any_of(kernels,
                             [&](const KernelChange& kernel) { return kernel.*calls > 0; });
}

class Checks {
 public:
  explicit Checks(RunChanges& changes) : changes_(changes) {}

  void Facts() {
    const SideFacts &base = changes_.base, &now = changes_.now;
    for (const SideFacts* side : {&base, &now}) {
      if (side->results_without_parts.empty()) continue;
      return Obstacle("old-results", side->results_without_parts.front() +
                                         " does not hold what its steps are made of: analyse the "
                                         "traces again with tacho analyze --json");
    }
    for (const auto& [name, side] : {std::pair("base", &base), {"new", &now}}) {
      if (!side->has_device_work)
        return Obstacle(kNothingCommon, fmt::format("{} {}", name, WhyNoWork(*side)));
    }
    if (base.has_overflows || now.has_overflows)
      return Obstacle("overflow", changes_.WhyDamaged() + ": record it again");
    if (base.on_host != now.on_host) {
      const bool is_cut = (base.on_host ? base : now).lost_data;
      return Obstacle(
          "cpu-and-gpu",
          is_cut ? fmt::format("{} has no GPU work: it ran on a CPU, or its trace is incomplete",
                               base.on_host ? "base" : "new")
                 : "one side ran on a CPU, the other one on GPUs");
    }
    if (changes_.across) return Across();
    Same("other-engine", "engines", base.engine, now.engine);
    Same("other-gpu", "GPUs", base.gpus, now.gpus);
    if (base.ranks != now.ranks) {
      Obstacle("other-ranks", fmt::format("base has {}, new has {}", Ranks(base), Ranks(now)));
    } else if (changes_.other_ranks) {
      Obstacle("other-ranks", "no rank is whole on both sides, so other ranks would be compared");
    }
    Same("other-recording", "recording options", base.options, now.options);
    Others();
  }

  void Kernels(std::string_view where, const std::vector<KernelChange>& kernels) {
    const SideFacts &base = changes_.base, &now = changes_.now;
    // In these cases Facts() has already reported an obstacle.
    if (!base.has_device_work || !now.has_device_work || base.on_host != now.on_host) return;
    const bool in_base = AnyKernel(kernels, &KernelChange::base_calls),
               in_now = AnyKernel(kernels, &KernelChange::now_calls);
    if (in_base != in_now) {
      const SideFacts& without = in_base ? now : base;
      return Obstacle("no-kernels",
                      fmt::format("{}: {} has no kernels{}", where, in_base ? "new" : "base",
                                  without.lost_data ? ": its trace is incomplete" : ""));
    }
    const double shared = SharedTime(kernels);
    if (shared < kLeastShared && !changes_.across) {
      return Obstacle(
          "other-kernels",
          fmt::format("{}: only {:.0f} % of kernel time is in kernels that both sides "
                      "have: another {}",
                      where, 100 * shared,
                      OtherPhases() ? "model, backend or phase" : "model or another backend"));
    }
    if (changes_.across) return;
    if (const auto factor = FactorOfLayers(kernels); factor && !changes_.IsCut()) {
      // If a step has no annotation, its kernels count for the previous step.
      constexpr double kFewOfLayers = 0.2;
      const bool is_small = std::abs(*factor - 1) < kFewOfLayers;
      const std::string lost = changes_.WhyLost(), is_short = ShortRanksText(changes_.unequal);
      const bool speculation = changes_.base.speculates != changes_.now.speculates;
      Obstacle("other-layers",
               fmt::format("{}: the same kernels are called {:.4g} times as often in new: {}{}{}{}",
                           where, *factor,
                           speculation ? fmt::format("steps of {} verify proposed tokens, and a "
                                                     "draft model may run in them",
                                                     changes_.now.speculates ? "new" : "base")
                                       : "a model with another number of layers",
                           is_small ? ", or steps without annotations" : "",
                           lost.empty() ? "" : ", or what is lost: " + lost,
                           is_short.empty() ? "" : ", or a short rank: " + is_short));
    }
  }

  // Checks whole recordings. If work is lost, kernels and their numbers of calls prove nothing.
  void Whole() {
    const SideFacts &base = changes_.base, &now = changes_.now;
    const bool both_work = base.has_device_work && now.has_device_work;
    if (both_work && base.ranks == now.ranks && base.devices != now.devices)
      Obstacle("other-ranks",
               fmt::format("all of the recording: base has times of {} devices, new of {}",
                           base.devices, now.devices));
    if (changes_.WhyLost().empty()) return Kernels("all of the recording", changes_.whole->rows);
    if (both_work) Obstacle("lost-gpu-work", "all of the recording: " + WhyNotCounted());
  }

  // Whether the two recordings have steps of different phases, which call different kernels.
  [[nodiscard]] bool OtherPhases() const {
    return changes_.whole && changes_.base.phases != changes_.now.phases;
  }

  void Obstacle(std::string id, std::string text) {
    changes_.obstacles.push_back({std::move(id), std::move(text)});
  }

 private:
  static std::string WhyNoWork(const SideFacts& side) {
    if (!side.evidence.why_no_work.empty()) return side.evidence.why_no_work;
    return side.lost_data ? "has no work of a device: its trace is incomplete"
                          : "has no work of a device";
  }

  // Such as "35 of its 40 decode steps", if `side` lost work in the middle of a recording; else "".
  static std::string LostBetween(const SideFacts& side) {
    std::string text;
    if (side.evidence.at_edges) return text;
    for (const auto& [phase, steps] : side.evidence.steps) {
      if (steps.untimed > 0)
        text += (text.empty() ? "" : " and ") + side.evidence.UntimedSteps(phase);
    }
    return text;
  }

  // Why kernels cannot be counted. Says how many steps lack work, or else how many calls.
  [[nodiscard]] std::string WhyNotCounted() const {
    const std::string of_base = LostBetween(changes_.base), of_now = LostBetween(changes_.now);
    if (!of_base.empty() && of_base == of_now)
      return fmt::format("base and new each lack the device time of {}: record them again",
                         of_base);
    std::string by_steps;
    for (const auto& [side, lost] : {std::pair("base", &of_base), {"new", &of_now}}) {
      if (!lost->empty())
        by_steps += fmt::format("{}{} lacks the device time of {}",
                                by_steps.empty() ? "" : ", and ", RunOf(side), *lost);
    }
    const bool both = !of_base.empty() && !of_now.empty();
    if (!by_steps.empty()) return by_steps + (both ? ": record them again" : ": record it again");
    return changes_.WhyIncomplete() + ", so kernels cannot be counted against each other";
  }

  // Other engines, GPUs, ranks and recording options are allowed, but the model is the same.
  void Across() {
    const SideFacts &base = changes_.base, &now = changes_.now;
    if (changes_.whole)
      return Obstacle("no-steps", "--across compares steps, and no side has one of known length");
    for (const PhaseChange& phase : changes_.phases) {
      if (phase.blocks.other_layers)
        return Obstacle("other-layers", "another model: " + phase.blocks.cannot_tell);
    }
    if (base.ranks != now.ranks)
      changes_.remarks.push_back(
          fmt::format("base has {}, new has {}: figures are of one device on average", Ranks(base),
                      Ranks(now)));
    if (base.options != now.options)
      changes_.remarks.push_back(fmt::format("recording options: base {}, new {}",
                                             OrUnknown(base.options), OrUnknown(now.options)));
    Others();
  }

  // Whatever the engines and GPUs are.
  void Others() {
    const SideFacts &base = changes_.base, &now = changes_.now;
    if (const auto& shared = changes_.on_both_sides; !shared.empty()) {
      const size_t more = shared.size() - 1;
      Obstacle(
          "shared-runs",
          fmt::format("{}{} on both sides, which hides a part of the difference", shared.front(),
                      more == 0 ? " is" : fmt::format(" and {} more runs are", more)));
    }
    const bool other_engine = changes_.across && base.engine != now.engine;
    if (!other_engine && base.version != now.version && !base.version.empty() &&
        !now.version.empty()) {
      changes_.remarks.push_back(
          fmt::format("versions: base {}, new {}", base.version, now.version));
    }
    if (base.prompt_tokens && now.prompt_tokens &&
        std::max(*now.prompt_tokens, *base.prompt_tokens) >
            kOtherPrompts * std::min(*now.prompt_tokens, *base.prompt_tokens)) {
      changes_.remarks.push_back(
          fmt::format("prompt tokens of a request in a step: {:.0f} in base, {:.0f} in new: other "
                      "prompts, or chunks of another size; a longer context costs time in "
                      "attention, in decode steps too",
                      *base.prompt_tokens, *now.prompt_tokens));
    }
    if (base.paths == now.paths && base.spans == now.spans)
      changes_.remarks.emplace_back("both sides are the same traces");
    if (changes_.whole) return;
    if (base.runs == 1 && now.runs == 1) {
      changes_.remarks.emplace_back(
          "one run a side: how much one run differs from the next is not in the bounds; give "
          "tacho compare several with --base and --new");
    } else if (std::min(base.runs, now.runs) == 1) {
      changes_.remarks.push_back(fmt::format(
          "base has {}, new {}: how much runs differ is known of one side alone, so bounds are "
          "wide; give at least two of each, better three",
          Runs(base.runs), Runs(now.runs)));
    }
  }

  void Same(std::string id, std::string_view what, const std::string& base,
            const std::string& now) {
    if (base == now) return;
    if (base.empty() || now.empty()) {
      changes_.remarks.push_back(
          fmt::format("{}: base {}, new {}", what, OrUnknown(base), OrUnknown(now)));
      return;
    }
    Obstacle(std::move(id), fmt::format("other {}: base {}, new {}", what, base, now));
  }

  RunChanges& changes_;
};

}  // namespace

SideFacts FactsOf(const std::vector<RunAnalysis>& runs) { return FactsOf(runs, AllRanksOf(runs)); }

SideFacts FactsOf(const std::vector<RunAnalysis>& runs, const SideRanks& ranks) {
  SideFacts facts;
  facts.runs = runs.size();
  std::set<std::string> engines, versions, gpus, options, phases;
  bool says_options = false;
  double prompt_tokens = 0, prompts = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const RunAnalysis& run = runs[i];
    const RunRanks& compared = ranks[i];
    for (const TraceAnalysis& trace : run.traces) {
      facts.paths.push_back(trace.path);
      facts.spans.push_back(trace.scope.window.value_or(trace.span));
      // Losses in other traces, such as a front end's, affect no figure. But if no trace is
      // compared, damage may be the reason, so losses in any trace count.
      facts.lost_data |= compared.empty() && trace.notes.lost_data();
    }
    for (const TraceAnalysis* trace : compared) {
      facts.lost_data |= trace->notes.lost_data();
      facts.has_holes |= trace->notes.has_holes();
      facts.has_overflows |= trace->notes.CountOf(NoteId::kLongOverlap) > 0;
      if (!trace->facts.engine.empty()) engines.insert(trace->facts.engine);
      if (!trace->facts.engine_version.empty()) versions.insert(trace->facts.engine_version);
      for (const DeviceProperties& gpu : trace->header.devices) {
        if (!gpu.name.empty()) gpus.insert(gpu.name);
      }
      if (SaysOptions(*trace)) {
        says_options = true;
        options.insert(trace->facts.options.begin(), trace->facts.options.end());
        if (trace->facts.python_stacks && !options.contains("with_stack"))
          options.insert("Python stacks");
      }
      if (!trace->results.empty() && !trace->devices.empty() && trace->idle.known &&
          std::ranges::count(trace->steps.steps, false, &Step::lost_work) > 1 &&
          trace->step_profile.rows.empty())
        facts.results_without_parts.push_back(trace->results);
      for (const Step& step : trace->steps.steps) {
        phases.emplace(PhaseName(step.label.phase));
        if (step.label.context_requests <= 0 || step.label.context_tokens <= 0) continue;
        prompt_tokens += static_cast<double>(step.label.context_tokens);
        prompts += static_cast<double>(step.label.context_requests);
      }
      for (const DeviceTime& device : trace->devices) facts.on_host |= device.on_host;
      facts.has_device_work |= !trace->devices.empty();
      facts.speculates |= trace->speculation.steps > 0;
    }
    const RankCounts counts = CountRanks(run);
    facts.ranks = std::max(facts.ranks, counts.ranks);
    facts.devices = std::max(facts.devices, counts.devices);
  }
  facts.evidence = EvidenceOf(ranks);
  if (prompts > 0) facts.prompt_tokens = prompt_tokens / prompts;
  facts.engine = Joined(engines);
  facts.version = Joined(versions);
  facts.gpus = Joined(gpus);
  facts.options = says_options && options.empty() ? "none" : Joined(options);
  facts.phases = Joined(phases);
  return facts;
}

std::vector<std::string> RunsOnBothSides(const std::vector<RunAnalysis>& base,
                                         const std::vector<RunAnalysis>& now) {
  std::vector<std::string> shared;
  size_t equal = 0;
  for (const RunAnalysis& run : now) {
    std::string first;  // the first work that `run` shares with a base run
    bool is_equal = false;
    for (const RunAnalysis& other : base) {
      if (first.empty()) first = SharedWork(run, other);
      is_equal = is_equal || IsEqualRun(run, other);
    }
    equal += is_equal;
    if (!first.empty()) shared.push_back(std::move(first));
  }
  if (equal == base.size() && equal == now.size()) shared.clear();
  return shared;
}

void CheckComparable(RunChanges& changes) {
  Checks checks(changes);
  checks.Facts();
  for (const PhaseChange& phase : changes.phases) {
    if (phase.cannot_tell.empty()) checks.Kernels(PhaseName(phase.phase), phase.kernels);
  }
  if (checks.OtherPhases()) {
    checks.Obstacle("other-phases",
                    fmt::format("other phases: base {}, new {}",
                                changes.base.phases.empty() ? "unknown" : changes.base.phases,
                                changes.now.phases.empty() ? "unknown" : changes.now.phases));
  }
  if (changes.whole) {
    checks.Whole();
    // Any other obstacle says more, so incompleteness is an obstacle only if there is no other.
    if (const std::string why = changes.WhyIncomplete(); !why.empty() && changes.obstacles.empty())
      checks.Obstacle("incomplete", "all of the recording: " + why);
  }
  if (changes.AnythingCompared()) return;
  std::string why;
  for (const PhaseChange& phase : changes.phases)
    why +=
        fmt::format("{}{}: {}", why.empty() ? "" : "; ", PhaseName(phase.phase), phase.cannot_tell);
  checks.Obstacle(kNothingCommon, why.empty() ? "only one side names its steps" : why);
}

}  // namespace tacho
