#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tacho {

// A percentile with 95 % confidence bounds. The bounds are order statistics, which assume nothing
// about the distribution; they are absent if there are too few samples.
struct Percentile {
  double percent = 0, value = 0;
  std::optional<double> low, high;
};

// Statistics of samples, in the samples' unit. Without samples there are no percentiles.
struct Distribution {
  uint64_t count = 0;
  double mean = 0;
  double deviation = 0;  // population standard deviation, like numpy.std
  double least = 0, most = 0;
  std::vector<Percentile> percentiles;

  // The value of that percentile; absent if it was not requested.
  std::optional<double> At(double percent) const;
};

// `percents`: from 0 to 100. Computes percentiles by numpy's linear rule (type 7). Sorts the
// samples.
Distribution Describe(std::vector<double> samples, std::span<const double> percents);

// Like numpy.percentile. `sorted` must be sorted and not empty.
double PercentileOf(std::span<const double> sorted, double percent);

}  // namespace tacho
