#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tacho {

// The figures that `nsys stats` gives for a list of integers.
struct Figures {
  int64_t total = 0;
  int64_t count = 0;
  double avg = 0, med = 0;  // median; of an even number of values, the mean of the middle two
  int64_t min = 0, max = 0;
  double stddev = 0;  // of a sample (n - 1); 0 if there is only one value
};

// A list of integers. Each counts `times` times.
struct FigureList {
  std::span<const int64_t> values;
  uint64_t times = 1;  // > 0
};

// The figures of all lists together, which must have at least one value. Neither the order of the
// values nor how they are divided into lists matters. Cost: O(n), about six passes, whatever
// FigureList::times is.
Figures FiguresOf(std::span<const FigureList> lists);
inline Figures FiguresOf(const std::vector<int64_t>& values) {
  const FigureList list{values};
  return FiguresOf({&list, 1});
}

// Rounds as SQLite's round() does: by the decimal text, halves away from zero. So 0.15 gives 0.2,
// although its double is slightly smaller. `decimals` <= 9; |value| < 1e17.
double RoundAsSqlite(double value, int decimals);

}  // namespace tacho
