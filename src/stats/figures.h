#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tacho {

// What `nsys stats` says of a list of integers.
struct Figures {
  int64_t total = 0;
  int64_t count = 0;
  double avg = 0, med = 0;  // the median of an even number is the mean of the two in the middle
  int64_t min = 0, max = 0;
  double stddev = 0;  // of a sample (n - 1); 0 for one value
};

// Integers that count `times` times each.
struct FigureList {
  std::span<const int64_t> values;
  uint64_t times = 1;  // > 0
};

// Of all values of the lists, of which there is at least one. Depends neither on their order nor on
// how they are divided. Cost: O(n), some six passes; how often a value counts costs nothing.
Figures FiguresOf(std::span<const FigureList> lists);
inline Figures FiguresOf(const std::vector<int64_t>& values) {
  const FigureList list{values};
  return FiguresOf({&list, 1});
}

// SQLite's round(): half away from zero in decimal, so 0.15, of which the double is a little less,
// is 0.2. `decimals` <= 9; |value| < 1e17.
double RoundAsSqlite(double value, int decimals);

}  // namespace tacho
