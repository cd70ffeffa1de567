#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tacho {

// A percentile with its 95 % confidence bounds: those of the order statistics, which assume nothing
// about the distribution. Absent with too few samples.
struct Percentile {
  double percent = 0, value = 0;
  std::optional<double> low, high;
};

// Statistics of a set of samples, in the samples' unit; all absent without samples.
struct Distribution {
  uint64_t count = 0;
  double mean = 0;
  double deviation = 0;  // of the population, like numpy.std
  double least = 0, most = 0;
  std::vector<Percentile> percentiles;

  // The value of a percentile that was requested, else absent.
  std::optional<double> At(double percent) const;
};

// `percents` from 0 to 100. Percentiles by numpy's linear rule (type 7). Sorts the samples.
Distribution Describe(std::vector<double> samples, std::span<const double> percents);

// numpy.percentile of sorted samples, which must not be empty.
double PercentileOf(std::span<const double> sorted, double percent);

}  // namespace tacho
