#include "analysis/compare/run_noise.h"

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/polygamma.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <map>
#include <numeric>

#include "analysis/compare/quantiles.h"

namespace tacho {
namespace {

constexpr double kBelowUpperBound = 0.995;  // quantile for a single figure: bounds of 99 %
constexpr double kAnyOutside = 0.005;       // probability that any of several figures is outside
constexpr size_t kFewestForPrior = 3;
constexpr double kNormal = 1e6;  // degrees of freedom of a variance that is practically known

double Mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double SquaresAroundMean(std::span<const double> values) {
  const double mean = Mean(values);
  return std::accumulate(values.begin(), values.end(), 0.0, [&](double sum, double value) {
    return sum + (value - mean) * (value - mean);
  });
}

struct RunVariance {
  double variance = 0;  // variance of one run
  double freedom = 0;
  double runs = 0;  // `variance` * `runs` is the variance of the difference of the means
};

std::optional<RunVariance> VarianceOf(std::span<const double> base, std::span<const double> now) {
  if (base.empty() || now.empty() || base.size() + now.size() < 3) return std::nullopt;
  const auto freedom = static_cast<double>(base.size() + now.size() - 2);
  return RunVariance{(SquaresAroundMean(base) + SquaresAroundMean(now)) / freedom, freedom,
                     1 / static_cast<double>(base.size()) + 1 / static_cast<double>(now.size())};
}

// Half-widths at one level. Caches quantiles, because they are slow to compute and most figures
// have the same degrees of freedom.
class HalfWidths {
 public:
  explicit HalfWidths(double level) : level_(level) {}
  double Of(const RunVariance& of) {
    const auto [at, is_new] = quantiles_.try_emplace(of.freedom);
    if (is_new) at->second = StudentQuantile(level_, of.freedom);
    return at->second * std::sqrt(of.variance * of.runs);
  }

 private:
  double level_;
  std::map<double, double> quantiles_;  // keyed by degrees of freedom
};

// Uses Newton's method on 1 / trigamma, which is convex and nearly linear.
double InverseTrigamma(double x) {
  double y = 0.5 + 1 / x;
  for (int i = 0; i < 50; ++i) {
    const double at = boost::math::trigamma(y);
    const double step = at * (1 - at / x) / boost::math::polygamma(2, y);
    y += step;
    if (-step < 1e-8 * y) break;
  }
  return y;
}

// What is expected of each relative variance before it is measured: a variance, and degrees of
// freedom that say how well this is known. Both are 0 if there are too few figures. By chance
// alone, measured variances scatter as their degrees of freedom say; the scatter beyond that shows
// how much the variances really differ.
struct Prior {
  double variance = 0, freedom = 0;
};
Prior PriorOf(const std::vector<RunVariance>& relative) {
  std::vector<double> logarithms, of_chance;
  for (const RunVariance& one : relative) {
    if (!(one.variance > 0)) continue;
    const double half = one.freedom / 2;
    logarithms.push_back(std::log(one.variance) - boost::math::digamma(half) + std::log(half));
    of_chance.push_back(boost::math::trigamma(half));
  }
  if (logarithms.size() < kFewestForPrior) return {};
  const double mean = Mean(logarithms);
  const double more =
      SquaresAroundMean(logarithms) / static_cast<double>(logarithms.size() - 1) - Mean(of_chance);
  if (more <= 0) return {std::exp(mean), kNormal};
  const double half = InverseTrigamma(more);
  if (2 * half >= kNormal) return {std::exp(mean), kNormal};
  return {std::exp(mean + boost::math::digamma(half) - std::log(half)), 2 * half};
}

}  // namespace

std::optional<double> HalfWidthOverRuns(std::span<const double> base, std::span<const double> now) {
  const auto variance = VarianceOf(base, now);
  return variance ? std::optional(HalfWidths(kBelowUpperBound).Of(*variance)) : std::nullopt;
}

std::vector<std::optional<double>> HalfWidthsOverRuns(const std::vector<FigureOfRuns>& figures) {
  std::vector<RunVariance> relative;
  for (const FigureOfRuns& figure : figures) {
    auto variance = VarianceOf(figure.base, figure.now);
    if (!variance || !(figure.size > 0)) continue;
    variance->variance /= figure.size * figure.size;
    relative.push_back(*variance);
  }
  const Prior prior = PriorOf(relative);
  HalfWidths alone(kBelowUpperBound);
  HalfWidths together(1 - kAnyOutside /
                              (2 * std::max<double>(1, static_cast<double>(relative.size()))));
  std::vector<std::optional<double>> widths;
  for (const FigureOfRuns& figure : figures) {
    std::optional<double>& width = widths.emplace_back();
    auto of = VarianceOf(figure.base, figure.now);
    if (!of) continue;
    width = alone.Of(*of);
    if (!(figure.size > 0)) continue;
    const double of_all = prior.variance * figure.size * figure.size;
    of->variance =
        (prior.freedom * of_all + of->freedom * of->variance) / (prior.freedom + of->freedom);
    of->freedom += prior.freedom;
    width = std::max(*width, together.Of(*of));
  }
  return widths;
}

}  // namespace tacho
