#include "load/result/distribution.h"

#include <algorithm>
#include <cmath>

namespace tacho {
namespace {

// Sets the bounds of a percentile: two samples that enclose it in 95 of 100 cases. Their ranks come
// from the normal approximation of the binomial distribution, which needs about 5 samples on each
// side; with fewer there are no bounds.
void AddBounds(std::span<const double> sorted, Percentile& percentile) {
  const auto n = static_cast<double>(sorted.size());
  const double share = percentile.percent / 100;
  if (n * share < 5 || n * (1 - share) < 5) return;
  const double spread = 1.959964 * std::sqrt(n * share * (1 - share));
  const double low = std::floor(n * share - spread), high = std::ceil(n * share + spread);
  if (low < 1 || high > n - 1) return;
  percentile.low = sorted[static_cast<size_t>(low) - 1];
  percentile.high = sorted[static_cast<size_t>(high)];
}

}  // namespace

std::optional<double> Distribution::At(double percent) const {
  for (const Percentile& percentile : percentiles) {
    if (percentile.percent == percent) return percentile.value;
  }
  return std::nullopt;
}

double PercentileOf(std::span<const double> sorted, double percent) {
  const double at = percent / 100 * static_cast<double>(sorted.size() - 1);
  const double below = std::floor(at), share = at - below;
  const auto i = static_cast<size_t>(below);
  if (i + 1 >= sorted.size()) return sorted.back();
  // Interpolates from the nearer end, like numpy's lerp, so that the result is monotonic.
  const double step = sorted[i + 1] - sorted[i];
  return share < 0.5 ? sorted[i] + step * share : sorted[i + 1] - step * (1 - share);
}

Distribution Describe(std::vector<double> samples, std::span<const double> percents) {
  Distribution all;
  all.count = samples.size();
  if (samples.empty()) return all;
  std::sort(samples.begin(), samples.end());
  const auto n = static_cast<double>(samples.size());
  double sum = 0, squares = 0;
  for (const double sample : samples) sum += sample;
  all.mean = sum / n;
  for (const double sample : samples) squares += (sample - all.mean) * (sample - all.mean);
  all.deviation = std::sqrt(squares / n);
  all.least = samples.front();
  all.most = samples.back();
  for (const double percent : percents) {
    Percentile& percentile =
        all.percentiles.emplace_back(Percentile{percent, PercentileOf(samples, percent), {}, {}});
    AddBounds(samples, percentile);
  }
  return all;
}

}  // namespace tacho
