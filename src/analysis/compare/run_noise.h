#pragma once

#include <optional>
#include <span>
#include <vector>

namespace tacho {

// How much runs of one set-up differ: bounds of the difference between the means of two sides, by
// Student's t over their runs. The variance of one run is taken from both sides together.

// Half-width of the bounds (99 %) of one figure. `base`, `now`: its value in each run. nullopt with
// one run on each side, or no run on one.
std::optional<double> HalfWidthOverRuns(std::span<const double> base, std::span<const double> now);

struct FigureOfRuns {
  std::vector<double> base, now;  // by run
  double size = 0;                // a typical value: variances are compared relative to it
};

// Half-widths for several figures, wide enough that with 99.5 % none of them is outside
// (Bonferroni), and at least as wide as HalfWidthOverRuns of each. Few runs say little about the
// variance of one figure, so each variance is drawn towards what all figures have in common: the
// moderated t of Smyth, Statistical Applications in Genetics and Molecular Biology 3 (2004),
// article 3, section 6. In random families of 4 to 112 figures without a difference, 2 to 5 runs a
// side, independent or with one factor for all, 0 to 3 % had any figure outside; with separate
// bounds for each figure, up to 69 %.
std::vector<std::optional<double>> HalfWidthsOverRuns(const std::vector<FigureOfRuns>& figures);

}  // namespace tacho
