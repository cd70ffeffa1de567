#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tacho {

// A percentile with its 95 % confidence bounds: those of the order statistics, which assume nothing
// of the distribution. Absent where there are too few samples to give one.
struct Percentile {
  double percent = 0, value = 0;
  std::optional<double> low, high;
};

// A set of samples in brief. All values in the samples' own unit; of no samples all is absent.
struct Distribution {
  uint64_t count = 0;
  double mean = 0;
  double deviation = 0;  // of the population, as numpy.std
  double least = 0, most = 0;
  std::vector<Percentile> percentiles;

  // Of one that was asked for, else absent.
  std::optional<double> At(double percent) const;
};

// `percents` from 0 to 100. Percentiles by numpy's linear rule (type 7). Sorts the samples.
Distribution Describe(std::vector<double> samples, std::span<const double> percents);

// numpy.percentile of sorted samples; there must be one.
double PercentileOf(std::span<const double> sorted, double percent);

}  // namespace tacho
