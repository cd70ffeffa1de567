#include "analysis/compare/quantiles.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>

namespace tacho {
namespace {

constexpr double kBelowUpperBound = 0.995;

double SquaresAroundMean(std::span<const double> values) {
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  return std::accumulate(values.begin(), values.end(), 0.0, [&](double sum, double value) {
    return sum + (value - mean) * (value - mean);
  });
}

}  // namespace

double StudentQuantile(double p, double degrees_of_freedom) {
  return boost::math::quantile(
      boost::math::students_t_distribution<double>(std::min(degrees_of_freedom, 1e6)), p);
}

std::optional<double> HalfWidthOverRuns(std::span<const double> base, std::span<const double> now) {
  if (base.empty() || now.empty() || base.size() + now.size() < 3) return std::nullopt;
  const auto freedom = static_cast<double>(base.size() + now.size() - 2);
  const double variance = (SquaresAroundMean(base) + SquaresAroundMean(now)) / freedom;
  return StudentQuantile(kBelowUpperBound, freedom) *
         std::sqrt(variance / static_cast<double>(base.size()) +
                   variance / static_cast<double>(now.size()));
}

}  // namespace tacho
