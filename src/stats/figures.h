#pragma once

#include <cstdint>
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

// Reorders `values`, of which there is at least one. Cost: O(n).
Figures FiguresOf(std::vector<int64_t>& values);

// SQLite's round(): half away from zero in decimal, so 0.15, of which the double is a little less,
// is 0.2. `decimals` <= 9; |value| < 1e17.
double RoundAsSqlite(double value, int decimals);

}  // namespace tacho
