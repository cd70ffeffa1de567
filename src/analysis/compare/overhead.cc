#include "analysis/compare/overhead.h"

#include <array>
#include <cmath>

#include "analysis/compare/quantiles.h"

namespace tacho {
namespace {

constexpr double kBelowUpperOverhead = 0.975;

struct Quotient {
  double sum = 0, count = 0;
  void Add(const Quotient& more) {
    sum += more.sum;
    count += more.count;
  }
  bool known() const { return sum > 0 && count > 0; }
  double value() const { return sum / count; }
};

}  // namespace

std::optional<OverheadEstimate> EstimateOverhead(std::span<const OverheadBlock> blocks) {
  std::array<Quotient, 2> all;  // index 0: without the profiler, 1: with it
  std::vector<double> logs;
  for (const OverheadBlock& block : blocks) {
    std::array<Quotient, 2> sides;
    bool whole = true;
    for (const WindowFigure& window : block) {
      whole = whole && window.count > 0;
      sides[window.profiled].Add({window.sum, window.count});
    }
    // A block that lacks a window is skipped: drift would affect only one side.
    if (!whole || !sides[0].known() || !sides[1].known()) continue;
    for (const size_t side : {size_t{0}, size_t{1}}) all[side].Add(sides[side]);
    logs.push_back(std::log(sides[1].value() / sides[0].value()));
  }
  if (logs.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(logs.size());
  double mean = 0, squares = 0;
  for (const double log : logs) mean += log / count;
  for (const double log : logs) squares += (log - mean) * (log - mean);
  const double half =
      StudentQuantile(kBelowUpperOverhead, count - 1) * std::sqrt(squares / (count - 1) / count);
  return OverheadEstimate{logs.size(),      all[0].value(),          all[1].value(),
                          std::expm1(mean), std::expm1(mean - half), std::expm1(mean + half)};
}

std::string_view NameOf(OverheadVerdict verdict) {
  constexpr std::array<std::string_view, 4> kNames = {"cost", "faster", "no-cost", "inconclusive"};
  return kNames[static_cast<size_t>(verdict)];
}

OverheadVerdict VerdictOf(const OverheadEstimate& estimate, bool grows, double precision) {
  if (estimate.low > 0 || estimate.high < 0)
    return grows == (estimate.low > 0) ? OverheadVerdict::kCost : OverheadVerdict::kFaster;
  return estimate.high - estimate.low <= 2 * precision ? OverheadVerdict::kNoCost
                                                       : OverheadVerdict::kInconclusive;
}

}  // namespace tacho
