#include "analysis/compare/run_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace tacho {
namespace {

// The text "base and new are STATE, so their EFFECT", which names only the sides whose flag is set.
std::string WhyOf(bool base, bool now, std::string_view state, std::string_view effect) {
  if (!base && !now) return "";
  if (base && now) return fmt::format("base and new are {}, so their {}", state, effect);
  return fmt::format("{} is {}, so its {}", base ? "base" : "new", state, effect);
}

// Whether the recording is cut off or damaged by more than the loss of GPU work.
bool IsSideCut(const SideFacts& side) { return side.lost_data && !side.evidence.only_lost_work; }
bool HasOtherHoles(const SideFacts& side) {
  return side.has_holes && !side.evidence.only_lost_work;
}

// The text "LOSS: its EFFECT", which names only the sides that lost work.
std::string LossAnd(const RunChanges& changes, std::string_view effect) {
  const std::string loss = changes.WhyLost();
  if (loss.empty()) return "";
  const SideEvidence &base = changes.base.evidence, &now = changes.now.evidence;
  const bool both = base.lost_work() || now.lost_work() ? base.lost_work() && now.lost_work()
                                                        : base.lacks_much() && now.lacks_much();
  return fmt::format("{}: {} {}", loss, both ? "their" : "its", effect);
}

// Rounds so that the bars add up to the whole: rounds down, then the bars with the largest
// remainders up.
Waterfall Rounded(const Change& whole, const std::vector<NamedChange>& parts) {
  Waterfall fall{std::llround(whole.base), std::llround(whole.now), {}};
  std::vector<double> remainders;
  int64_t left = fall.now - fall.base;
  for (const NamedChange& part : parts) {
    const double down = std::floor(part.change.difference());
    fall.bars.push_back({part.name, static_cast<int64_t>(down), part.change.IsBeyondNoise()});
    remainders.push_back(part.change.difference() - down);
    left -= fall.bars.back().ns;
  }
  if (fall.bars.empty()) return fall;
  std::vector<size_t> order(parts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](size_t i) { return remainders[i]; });
  // Rounding leaves at most 1 ns for each part and 1 ns for the whole. If more is left, it is in no
  // part.
  if (std::abs(left) > std::ssize(parts) + 1) {
    fall.bars.push_back({"unknown", left, false});
    return fall;
  }
  for (size_t i = 0; left > 0; --left, i = (i + 1) % order.size()) ++fall.bars[order[i]].ns;
  for (size_t i = order.size() - 1; left < 0; ++left, i = (i + order.size() - 1) % order.size())
    --fall.bars[order[i]].ns;
  return fall;
}

}  // namespace

std::string_view KernelChangeName(KernelChange::Kind kind) {
  constexpr std::array<std::string_view, 7> kNames = {
      "same", "slower", "faster", "more-calls", "fewer-calls", "gone", "new"};
  return kNames[static_cast<size_t>(kind)];
}

bool RunChanges::AnythingCompared() const {
  return whole || std::ranges::any_of(
                      phases, [](const PhaseChange& phase) { return phase.cannot_tell.empty(); });
}

bool RunChanges::NothingCommon() const {
  return std::ranges::find(obstacles, kNothingCommon, &Obstacle::id) != obstacles.end();
}

std::string RunChanges::WhyUntimed() const {
  const std::string of_base = base.evidence.UntimedRanks("base"),
                    of_now = now.evidence.UntimedRanks("new");
  return of_base + (of_base.empty() || of_now.empty() ? "" : ", and ") + of_now;
}

bool RunChanges::IsCut() const { return IsSideCut(base) || IsSideCut(now); }

std::string RunChanges::WhyIncomplete() const {
  std::string why = WhyOf(IsSideCut(base), IsSideCut(now), "incomplete", "sums are lower bounds");
  if (why.empty()) why = WhyUntimed();
  if (!why.empty()) return why;
  return LossAnd(*this, base.evidence.at_edges && now.evidence.at_edges
                            ? "figures are of the rest of the recording"
                            : "sums are lower bounds");
}

std::string RunChanges::WhyDamaged() const {
  if (HasOtherHoles(base) || HasOtherHoles(now))
    return WhyOf(base.has_holes, now.has_holes, "damaged", "steps may lack work");
  if (base.has_overflows || now.has_overflows)
    return fmt::format("{} has GPU work whose duration cannot be right",
                       base.has_overflows && now.has_overflows ? "each side"
                       : base.has_overflows                    ? "base"
                                                               : "new");
  const std::string loss =
      base.has_holes || now.has_holes ? LossAnd(*this, "steps may lack work") : "";
  return loss.empty() ? WhyUntimed() : loss;
}

void RunChanges::DropFigures() {
  phases.clear();
  whole.reset();
  collectives.reset();
  launches.clear();
  operators.clear();
  load.clear();
}

void RunChanges::LeaveOut() {
  std::set<std::string> only_base, only_now;
  for (PhaseChange& phase : phases) {
    for (const KernelChange& kernel : phase.kernels) {
      if (kernel.now_calls == 0) only_base.insert(kernel.name);
      if (kernel.base_calls == 0) only_now.insert(kernel.name);
    }
    phase.kernels.clear();
    phase.renamed.clear();
  }
  left_out.push_back({"kernels by name", only_base.empty() && only_now.empty()
                                             ? "a kernel of the same name may be another one"
                                             : fmt::format("{} run in base alone, {} in new alone",
                                                           only_base.size(), only_now.size())});
  left_out.push_back({"launches", "engines launch the same work in other ways"});
  left_out.push_back({"operators of the host", "each engine has its own"});
  launches.clear();
  operators.clear();
  if (base.ranks == now.ranks) return;
  left_out.push_back({"collectives", "the sides have other numbers of ranks"});
  collectives.reset();
}

bool IsIdlePart(std::string_view part) { return part == kAllIdle || part.starts_with("idle."); }

Waterfall WaterfallOf(const PhaseChange& phase) {
  std::vector<NamedChange> parts = phase.parts;
  if (std::abs(phase.mix.difference()) >= 1) parts.push_back({kBatchMix, phase.mix});
  return Rounded(phase.mean, parts);
}

Waterfall WaterfallOf(const WholeChange& whole) { return Rounded(whole.window, whole.parts); }

}  // namespace tacho
