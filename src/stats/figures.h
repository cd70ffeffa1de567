#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tacho {

// The figures that `nsys stats` gives for a list of integers.
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

// The figures of all values of the lists together; there must be at least one value. They depend
// neither on the order of the values nor on how these are divided into lists. Cost: O(n), some six
// passes; FigureList::times costs nothing.
Figures FiguresOf(std::span<const FigureList> lists);
inline Figures FiguresOf(const std::vector<int64_t>& values) {
  const FigureList list{values};
  return FiguresOf({&list, 1});
}

// SQLite's round(): half away from zero in decimal. So 0.15 gives 0.2, although its double is a
// little less. `decimals` <= 9; |value| < 1e17.
double RoundAsSqlite(double value, int decimals);

}  // namespace tacho
