#include "report/words/compare_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "report/words/block_words.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

// Relative change of a window, which has no bounds, up to which it counts as equal.
constexpr double kDidNotMove = 0.001;
// Two times share a unit if the shorter is at least this share of the longer.
constexpr double kLeastInOneUnit = 0.1;
constexpr int kMostDecimals = 9;  // enough to show a nanosecond in seconds
constexpr size_t kPartsNamed = 2;
constexpr double kMostOfWhole = 1.1;  // more than 1, because parts and steps each have noise

int64_t WholeNs(double ns) { return std::llround(ns); }

std::string Time(double ns) { return FormatDuration({WholeNs(ns)}); }

// A share in percent with its sign: "-13.6 %".
std::string SignedPercent(double share) {
  return fmt::format("{}{:.{}f} %", share < 0 ? "-" : "+", std::abs(100 * share),
                     std::abs(share) < 0.1 ? 2 : 1);
}

double NsOf(TimeUnit unit) { return std::array{1.0, 1e3, 1e6, 1e9}[static_cast<size_t>(unit)]; }

TimeUnit UnitOf(double ns) {
  return ns < 1e3   ? TimeUnit::kNs
         : ns < 1e6 ? TimeUnit::kUs
         : ns < 1e9 ? TimeUnit::kMs
                    : TimeUnit::kS;
}

// A time with six digits: "1.01605 ms".
std::string Exactly(double ns) {
  const TimeUnit unit = UnitOf(ns);
  return fmt::format("{:.6g} {}", ns / NsOf(unit), TimeUnitName(unit));
}

// The two sides of a change: "19.9 ms -> 17.2 ms". Both times have the same unit and number of
// decimals; more decimals are added if they would look equal.
std::string FromTo(const Change& change) {
  const auto [least, most] = std::minmax(change.base, change.now);
  if (std::abs(change.difference()) < 1 || least < kLeastInOneUnit * most)
    return fmt::format("{} -> {}", Time(change.base), Time(change.now));
  const TimeUnit unit = UnitOf(most);
  const double size = most / NsOf(unit);
  for (int decimals = size < 10 ? 2 : size < 100 ? 1 : 0;; ++decimals) {
    const auto text = [&](double ns) { return fmt::format("{:.{}f}", ns / NsOf(unit), decimals); };
    if (text(least) != text(most) || decimals == kMostDecimals)
      return fmt::format("{0} {2} -> {1} {2}", text(change.base), text(change.now),
                         TimeUnitName(unit));
  }
}

// A number with five digits, because with three some rates would look equal.
std::string Number(double value) {
  const double size = std::abs(value);
  return size == 0 || (size >= 1e-4 && size < 99'999.5) ? fmt::format("{:.5g}", value)
                                                        : FormatNumber(value);
}

// The parts that changed most, if beyond noise: "gemm.dense +1.2 ms, idle.host-late -1.1 ms".
std::string PartsThatMoved(const PhaseChange& phase) {
  std::string moved;
  size_t count = 0;
  for (const NamedChange& part : phase.parts) {
    if (!part.change.IsBeyondNoise() || ++count > kPartsNamed) continue;
    moved += fmt::format("{}{} {}", moved.empty() ? "" : ", ", part.name,
                         SignedTime(part.change.difference()));
  }
  return moved;
}

// Names the part that changed most, beyond noise and in the same direction as the step: ", -2.1 ms
// of it in moe.gemm". A part may have changed by more than the step, because other parts compensate
// for it; then names all parts that changed most.
std::string MostOfIt(const PhaseChange& phase) {
  const double whole = phase.step.difference();
  for (const NamedChange& part : phase.parts) {  // largest first
    const double moved = part.change.difference();
    if (!part.change.IsBeyondNoise() || (moved < 0) != (whole < 0)) continue;
    if (std::abs(moved) > kMostOfWhole * std::abs(whole)) return ": " + PartsThatMoved(phase);
    return fmt::format(", {} of it in {}", SignedTime(moved), part.name);
  }
  return "";
}

// How many kernels changed in which way: "3 kernels gone, 2 new, 1 slower". `times`: also counts
// kernels that only became slower or faster.
std::string KernelsInWords(const std::vector<KernelChange>& kernels, bool times) {
  using Kind = KernelChange::Kind;
  std::string words;
  for (const auto& [kind, word] : {std::pair{Kind::kGone, "gone"},
                                   {Kind::kNew, "new"},
                                   {Kind::kSlower, "slower"},
                                   {Kind::kFaster, "faster"},
                                   {Kind::kMoreCalls, "called more often"},
                                   {Kind::kFewerCalls, "called less often"}}) {
    const auto count =
        static_cast<uint64_t>(std::ranges::count(kernels, kind, &KernelChange::kind));
    const bool is_time = kind == Kind::kSlower || kind == Kind::kFaster;
    if (count == 0 || (is_time && !times)) continue;
    words += words.empty() ? fmt::format("{} {}", FormatCounted(count, "kernel"), word)
                           : fmt::format(", {} {}", FormatCount(count), word);
  }
  return words;
}

std::string StepNumbers(const PhaseChange& phase) {
  return fmt::format("{} step {} ({})", PhaseName(phase.phase), FromTo(phase.step),
                     DifferenceText(phase.step));
}

// What changed in one phase; "" if nothing changed beyond noise.
std::string PhaseVerdict(const PhaseChange& phase) {
  std::string mix;
  if (phase.mix.IsBeyondNoise()) {
    mix = fmt::format("{} of {} from another mix of batches", SignedTime(phase.mix.difference()),
                      PhaseName(phase.phase));
  }
  const std::string overlap = OverlapInWords(phase);
  if (phase.step.IsBeyondNoise())
    return StepNumbers(phase) + (overlap.empty() ? MostOfIt(phase) : overlap) +
           (mix.empty() ? "" : ", and " + mix);
  if (!mix.empty()) return mix;
  // If the step did not change, a change in the time of a part or kernel is named only if its
  // bounds include how much runs differ. Kernels that are gone, new, or called more or less often
  // are named in any case.
  std::string moved = phase.bounds_hold_runs ? PartsThatMoved(phase) : "";
  if (moved.empty()) moved = KernelsInWords(phase.kernels, phase.bounds_hold_runs);
  if (moved.empty()) return "";
  return fmt::format("{} within noise, though {}", StepNumbers(phase), moved);
}

// With one run on each side, a changed part or kernel may only be a difference between the runs, so
// PhaseVerdict does not name it. Says how many such parts and kernels there are in the phases
// without a verdict: ", but 1 part and 2 kernels do"; "" if there are none.
std::string HiddenByOneRun(const std::vector<const PhaseChange*>& phases) {
  uint64_t parts = 0, kernels = 0;
  for (const PhaseChange* phase : phases) {
    if (phase->bounds_hold_runs || !PhaseVerdict(*phase).empty()) continue;
    parts += static_cast<uint64_t>(std::ranges::count_if(
        phase->parts, [](const NamedChange& part) { return part.change.IsBeyondNoise(); }));
    kernels += static_cast<uint64_t>(std::ranges::count_if(
        phase->kernels, [](const KernelChange& kernel) { return kernel.time.IsBeyondNoise(); }));
  }
  if (parts + kernels == 0) return "";
  std::string what = parts > 0 ? FormatCounted(parts, "part") : "";
  if (kernels > 0) what += (what.empty() ? "" : " and ") + FormatCounted(kernels, "kernel");
  return fmt::format(", but {} {}", what, parts + kernels == 1 ? "does" : "do");
}

// Names graph launches if nearly all are gone or new: "; graph launches 0.91 -> 0 a step".
std::string GraphsInWords(const std::vector<NamedChange>& launches) {
  const auto graphs = std::ranges::find(launches, "graph launches", &NamedChange::name);
  if (graphs == launches.end()) return "";
  const auto [least, most] = std::minmax(graphs->change.base, graphs->change.now);
  if (most < 0.1 || least > 0.1 * most) return "";
  return fmt::format("; graph launches {:.2g} -> {:.2g} a step", graphs->change.base,
                     graphs->change.now);
}

// How the waits in collectives changed: "; collectives +229 us a step and rank: waiting for TP3
// +261 us (its own idle.host-late +303 us), other waits -32.2 us"; "...: waiting for each other
// +44.0 us" if no rank explains it; "" unless `phases` became slower or faster by their
// communication, and waits explain most of it.
std::string WaitsInWords(const std::optional<CollectiveChange>& collectives,
                         const std::vector<const PhaseChange*>& phases) {
  constexpr double kWorthNaming = 0.1;  // as a share of the change
  if (!collectives) return "";
  const CollectiveChange::OfRank* rank = collectives->Explains();
  const double all = collectives->time.difference(), all_waits = collectives->waits.difference();
  const double waits = rank == nullptr ? all_waits : rank->caused.difference();
  const bool explains = (all < 0) == (all_waits < 0) && 2 * std::abs(all_waits) >= std::abs(all);
  if (rank == nullptr && (!explains || all_waits == 0)) return "";
  const auto moved = [&](const Change& change) {
    return change.IsBeyondNoise() && (change.difference() < 0) == (all < 0);
  };
  const bool shows = std::ranges::any_of(phases, [&](const PhaseChange* phase) {
    return moved(phase->step) && std::ranges::any_of(phase->parts, [&](const NamedChange& part) {
             return part.name.starts_with("comm") && moved(part.change);
           });
  });
  if (!shows) return "";
  std::string text =
      fmt::format("; collectives {} a step and rank: waiting for {} {}", SignedTime(all),
                  rank == nullptr ? "each other" : VisibleText(rank->name), SignedTime(waits));
  if (rank != nullptr)
    text += fmt::format(" (its own {} {})", rank->is_main ? rank->main.Id() : "lateness",
                        SignedTime(rank->late.difference()));
  for (const auto& [what, ns] : {std::pair("other waits", all_waits - waits),
                                 std::pair("transfer", collectives->transfer.difference())}) {
    if (std::abs(ns) >= kWorthNaming * std::abs(all))
      text += fmt::format(", {} {}", what, SignedTime(ns));
  }
  return text;
}

// Why the kernels take more or less time, as " (...)": the same kernels are called more or less
// often, a call takes longer or shorter, or kernels are gone or new. "" if no single reason
// accounts for most of the change.
std::string WhyKernelTime(const WholeChange& whole) {
  struct OnOneSide {
    uint64_t kernels = 0;
    double time = 0;
  } gone, fresh;
  // Times of kernels on both sides; as_often: with the new number of calls, at base's time a call.
  double base = 0, as_often = 0, now = 0;
  for (const KernelChange& kernel : whole.rows) {
    if (kernel.base_calls == 0 || kernel.now_calls == 0) {
      OnOneSide& side = kernel.now_calls == 0 ? gone : fresh;
      ++side.kernels;
      side.time += kernel.now_calls == 0 ? kernel.time.base : kernel.time.now;
      continue;
    }
    base += kernel.time.base;
    as_often += kernel.time.base * kernel.now_calls / kernel.base_calls;
    now += kernel.time.now;
  }
  const double moved = whole.kernels.difference();
  const auto is_most = [&](double part) {
    return (part < 0) == (moved < 0) && std::abs(part) > 0.5 * std::abs(moved);
  };
  if (is_most(fresh.time - gone.time)) {
    std::string words;
    for (const auto& [side, word] : {std::pair{&gone, "gone"}, {&fresh, "new"}}) {
      if (side->time <= 0.02 * std::abs(moved)) continue;
      words += fmt::format("{}{}: {} with {}", words.empty() ? "" : "; ", word,
                           FormatCounted(side->kernels, "kernel"), Time(side->time));
    }
    return fmt::format(" ({})", words);
  }
  if (base <= 0 || as_often <= 0 || !is_most(now - base)) return "";
  const double calls = as_often / base - 1, each = now / as_often - 1;
  const auto says = [](double change, double other) {
    return std::abs(change) > 0.02 && std::abs(other) < 0.25 * std::abs(change);
  };
  if (says(calls, each))
    return fmt::format(" (the same kernels are called {:.1f} % {} often, a call takes as long)",
                       100 * std::abs(calls), calls < 0 ? "less" : "more");
  if (says(each, calls))
    return fmt::format(" (a call takes {:.1f} % {}, they are called as often)",
                       100 * std::abs(each), each < 0 ? "less" : "longer");
  return "";
}

// The sentence if nothing changed: "no difference in the window (5.00 ms), in kernel time and in
// idle time".
std::string NoDifference(const WholeChange& whole, bool knows_idle) {
  return fmt::format("no difference in the window ({}){}", Time(whole.window.base),
                     knows_idle ? ", in kernel time and in idle time" : " and in kernel time");
}

std::string WholeVerdict(const RunChanges& changes) {
  const WholeChange& whole = *changes.whole;
  const bool knows_idle = changes.KnowsIdleTime();
  const double moved = whole.window.relative().value_or(0);
  std::string text =
      std::abs(moved) < kDidNotMove
          ? fmt::format("the window did not move ({})", FromTo(whole.window))
          : fmt::format("window {} ({})", FromTo(whole.window), SignedPercent(moved));
  double idle = 0;
  for (const NamedChange& part : whole.parts) {
    if (IsIdlePart(part.name)) idle += part.change.difference();
  }
  const double kernels = whole.kernels.difference();
  if (whole.window.difference() == 0 && kernels == 0 && idle == 0)
    return NoDifference(whole, knows_idle);
  const auto more = [](double ns) { return ns < 0 ? "less" : "more"; };
  text += fmt::format(": {} {} kernel time{}", Time(std::abs(kernels)), more(kernels),
                      changes.WhyLost().empty() ? WhyKernelTime(whole) : "");
  if (!knows_idle) return text;
  const double busy = whole.window.difference() - idle;
  if (std::abs(busy + idle) < 0.05 * std::abs(idle) && (busy < 0) != (idle < 0))
    return text + fmt::format(", and as much {} idle time ({})", more(idle), Time(std::abs(idle)));
  return text + fmt::format(", {} {} idle time", Time(std::abs(idle)), more(idle));
}

std::string StepsVerdict(const RunChanges& changes) {
  std::vector<const PhaseChange*> phases;  // the phase with the most steps first
  for (const PhaseChange& phase : changes.phases) {
    if (phase.cannot_tell.empty()) phases.push_back(&phase);
  }
  std::vector<PhaseChange> common;
  common.reserve(phases.size());
  for (const PhaseChange*& phase : phases) {
    if (changes.across) phase = &common.emplace_back(OfCommonParts(*phase));
  }
  std::ranges::stable_sort(phases, std::greater{},
                           [](const PhaseChange* phase) { return phase->steps[0]; });
  std::string changed, same;
  for (const PhaseChange* phase : phases) {
    const std::string verdict = PhaseVerdict(*phase);
    if (!verdict.empty())
      changed += (changed.empty() ? "" : "; ") + verdict;
    else
      same += fmt::format("{}{}", same.empty() ? "" : ", ", PhaseName(phase->phase));
  }
  if (phases.empty()) return "nothing could be compared";
  const std::string hidden = HiddenByOneRun(phases);
  const std::string graphs =
      WaitsInWords(changes.collectives, phases) + GraphsInWords(changes.launches);
  if (changed.empty()) {
    return fmt::format("{} beyond noise in {}: {}{}{}",
                       hidden.empty() ? "no difference"
                                      : "one run a side, which does not tell how much runs differ: "
                                        "no step differs",
                       same, StepNumbers(*phases.front()), hidden, graphs);
  }
  return same.empty() ? changed + graphs
                      : fmt::format("{}{}; {}: no {} beyond noise{}", changed, graphs, same,
                                    hidden.empty() ? "difference" : "step differs", hidden);
}

}  // namespace

std::string SignedTime(double ns) { return (ns < 0 ? "-" : "+") + Time(std::abs(ns)); }

std::string DifferenceText(const Change& change) {
  const auto relative = change.relative();
  std::string text = relative ? SignedPercent(*relative) : SignedTime(change.difference());
  if (!change.half_width) return text;
  const auto half = change.relative_half_width();
  return text + " ± " +
         (half ? fmt::format("{:.{}f} %", 100 * *half, *half < 0.1 ? 2 : 1)
               : Time(*change.half_width));
}

std::string CompareVerdict(const RunChanges& changes) {
  if (!changes.obstacles.empty()) return "not comparable: " + changes.obstacles.front().text;
  const std::string lost = changes.WhyLost();
  std::string text = changes.whole ? WholeVerdict(changes) : StepsVerdict(changes);
  if (const auto [base, now] = SideNames(changes); base != "base")
    text = fmt::format("from {} to {}: {}", base, now, text);
  if (lost.empty()) return text;
  return fmt::format("{}; {}{}", text, lost,
                     changes.whole ? "" : ", and steps that lack work are left out");
}

std::string GateText(const GateResult& result) {
  using Outcome = GateResult::Outcome;
  const std::string_view word = result.outcome == Outcome::kPassed   ? "passed"
                                : result.outcome == Outcome::kBroken ? "failed"
                                                                     : "inconclusive";
  if (!result.change)
    return fmt::format("{}: {}: {} cannot be judged: {}", word, result.gate, result.metric,
                       result.why_none);
  const Change& change = *result.change;
  if (result.counts)
    return fmt::format("{}: {}: {:.0f} {}", word, result.gate, change.now, result.metric);
  const bool is_number = IsLoadMetric(result.metric) && !IsLoadTime(result.metric);
  if (result.of_new_value) {
    const auto half = change.half_width;
    return fmt::format(
        "{}: {}: {} is {}{}", word, result.gate, result.metric,
        is_number ? Number(change.now) : Exactly(change.now),
        half ? " ± " + (is_number ? Number(*half) : Time(*half)) : ", bounds not known");
  }
  const std::string values =
      is_number ? fmt::format("{} -> {}", Number(change.base), Number(change.now)) : FromTo(change);
  const std::string difference =
      is_number && change.base == 0
          ? fmt::format("{}{}", change.now < 0 ? "" : "+", Number(change.difference()))
          : DifferenceText(change);
  return fmt::format("{}: {}: {} {} ({}){}", word, result.gate, result.metric, values, difference,
                     change.half_width ? "" : ", bounds not known");
}

}  // namespace tacho
