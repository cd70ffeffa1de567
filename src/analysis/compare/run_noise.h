#pragma once

#include <optional>
#include <span>
#include <vector>

namespace tacho {

// Bounds of the difference between the means of two sides, from how much the runs of a side differ
// (Student's t over runs). Both sides together give the variance of one run.

// The half-width of the bounds (99 %) of one figure. `base`, `now`: its value in each run. nullopt
// with one run on each side, or if a side has no run.
std::optional<double> HalfWidthOverRuns(std::span<const double> base, std::span<const double> now);

struct FigureOfRuns {
  std::vector<double> base, now;  // the figure's values, by run
  double size = 0;                // a typical value; variances are taken relative to it
};

// Half-widths for several figures, so wide that with a probability of 99.5 % no figure is outside
// its bounds (Bonferroni), and at least as wide as HalfWidthOverRuns of each. Few runs say little
// about the variance of one figure, so each variance is moved towards what all figures have in
// common: the moderated t of Smyth, Statistical Applications in Genetics and Molecular Biology 3
// (2004), article 3, section 6.
//
// This was tested with random families of 4 to 112 figures that do not differ, 2 to 5 runs on a
// side, independent figures or one common factor: 0 to 3 % of the families had a figure outside its
// bounds. With separate bounds for each figure, up to 69 % had.
std::vector<std::optional<double>> HalfWidthsOverRuns(const std::vector<FigureOfRuns>& figures);

}  // namespace tacho
