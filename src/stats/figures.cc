#include "stats/figures.h"

#include <algorithm>
#include <cmath>

namespace tacho {

Figures FiguresOf(std::vector<int64_t>& values) {
  Figures figures;
  figures.count = static_cast<int64_t>(values.size());
  for (const int64_t value : values) figures.total += value;
  const auto count = static_cast<double>(values.size());
  figures.avg = static_cast<double>(figures.total) / count;
  const auto [min, max] = std::ranges::minmax(values);
  figures.min = min;
  figures.max = max;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  figures.med = static_cast<double>(*middle);
  if (values.size() % 2 == 0) {
    const int64_t below = *std::max_element(values.begin(), middle);
    figures.med = (figures.med + static_cast<double>(below)) / 2;
  }
  if (values.size() > 1) {
    double squares = 0;
    for (const int64_t value : values) {
      const double from_avg = static_cast<double>(value) - figures.avg;
      squares += from_avg * from_avg;
    }
    figures.stddev = std::sqrt(squares / (count - 1));
  }
  return figures;
}

double RoundAsSqlite(double value, int decimals) {
  const long double scale = std::pow(10.0L, decimals);
  const long double magnitude = std::fabs(static_cast<long double>(value));
  const long double nudge = magnitude * 3e-16L;  // as SQLite's: what a double may lack of its text
  const long double rounded = std::floor((magnitude + nudge) * scale + 0.5L) / scale;
  return static_cast<double>(value < 0 ? -rounded : rounded);
}

}  // namespace tacho
