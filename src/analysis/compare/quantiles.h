#pragma once

#include <optional>
#include <span>

namespace tacho {

// The value that Student's t of so many degrees of freedom stays below with probability `p`. Both
// inside (0, 1) and above 0; the normal distribution's from 1e6 degrees on.
double StudentQuantile(double p, double degrees_of_freedom);

// Half-width of the bounds (99 %) of the difference between the means of two sides, by Student's t
// over their runs; the variance of one run is taken from both sides together. Nothing with one run
// on each side, or none on one.
std::optional<double> HalfWidthOverRuns(std::span<const double> base, std::span<const double> now);

}  // namespace tacho
