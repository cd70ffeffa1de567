#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace tacho {

// The Kolmogorov-Smirnov distance between the samples and a distribution, times the square root of
// the number of samples. If the samples follow the distribution, it exceeds 1.63 in 1 of 100 cases.
// `cdf` must be continuous.
template <typename Cdf>
double KolmogorovOf(std::vector<double> samples, const Cdf& cdf) {
  std::sort(samples.begin(), samples.end());
  const auto n = static_cast<double>(samples.size());
  double most = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const double at = cdf(samples[i]), below = static_cast<double>(i) / n;
    most = std::max({most, at - below, below + 1 / n - at});
  }
  return most * std::sqrt(n);
}
constexpr double kOneInHundred = 1.63;

}  // namespace tacho
