#include "stats/figures.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace tacho {
namespace {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;
using Lists = std::span<const FigureList>;

// How far a value is from the smallest one.
uint64_t From(int64_t min, int64_t value) {
  return static_cast<uint64_t>(value) - static_cast<uint64_t>(min);
}

// The value with index `rank` in sorted order. Counts values by their leading bits, finds the class
// that contains this index, then counts the values of this class by their next bits, and so on
// until few are left.
int64_t Select(Lists lists, int64_t min, int64_t max, uint64_t count, uint64_t rank) {
  constexpr int kBits = 11;
  constexpr uint64_t kFew = 2048;
  // The class that is known to contain the index `rank`. `low`: distance of the first value of the
  // class from `min`. `width`: distance between the first and the last value of the class.
  uint64_t low = 0, width = From(min, max);
  while (count > kFew && width > 0) {
    const int shift = std::max(0, static_cast<int>(std::bit_width(width)) - kBits);
    std::array<uint64_t, size_t{1} << kBits> counts{};
    for (const auto [values, times] : lists) {
      for (const int64_t value : values) {
        const uint64_t at = From(min, value) - low;
        if (at <= width) counts[at >> shift] += times;
      }
    }
    uint64_t bucket = 0;
    while (rank >= counts[bucket]) rank -= counts[bucket++];
    count = counts[bucket];
    low += bucket << shift;
    width = std::min(width - (bucket << shift), (uint64_t{1} << shift) - 1);
  }
  std::vector<uint64_t> left;
  if (width > 0) {
    left.reserve(count);
    for (const auto [values, times] : lists) {
      for (const int64_t value : values) {
        if (From(min, value) - low <= width) left.insert(left.end(), times, From(min, value));
      }
    }
    const auto at = left.begin() + static_cast<std::ptrdiff_t>(rank);
    std::ranges::nth_element(left, at);
    low = *at;
  }
  return static_cast<int64_t>(static_cast<uint64_t>(min) + low);
}

// How far the values are from `middle`, and some facts about values below `upper`.
struct Deviations {
  UnsignedWide squares = 0;
  Wide beside = 0;  // sum of the differences between the values and `middle`
  uint64_t smaller = 0;
  int64_t lower = 0;  // the largest value below `upper`, else the smallest value
};

// `middle` is the distance from `min`, in units of 2^shift.
Deviations DeviationsOf(Lists lists, int64_t min, uint64_t middle, int shift, int64_t upper) {
  Deviations all{.lower = min};
  int64_t lower = min;
  for (const auto [values, times] : lists) {
    UnsignedWide squares = 0;
    Wide beside = 0;
    uint64_t smaller = 0;
    for (const int64_t value : values) {
      const auto from = static_cast<int64_t>((From(min, value) >> shift) - middle);
      squares += static_cast<UnsignedWide>(Wide{from} * from);
      beside += from;
      smaller += value < upper ? 1 : 0;
      lower = value < upper ? std::max(lower, value) : lower;
    }
    all.squares += squares * times;
    all.beside += beside * static_cast<Wide>(times);
    all.smaller += smaller * times;
  }
  all.lower = lower;
  return all;
}

int64_t Clamped(Wide value) {
  return static_cast<int64_t>(std::clamp<Wide>(value, std::numeric_limits<int64_t>::min(),
                                               std::numeric_limits<int64_t>::max()));
}

}  // namespace

Figures FiguresOf(Lists lists) {
  Figures figures{.min = std::numeric_limits<int64_t>::max(),
                  .max = std::numeric_limits<int64_t>::min()};
  Wide total = 0;
  uint64_t count = 0;
  for (const auto [values, times] : lists) {
    count += values.size() * times;
    Wide sum = 0;
    for (const int64_t value : values) {
      sum += value;
      figures.min = std::min(figures.min, value);
      figures.max = std::max(figures.max, value);
    }
    total += sum * static_cast<Wide>(times);
  }
  figures.count = static_cast<int64_t>(count);
  figures.total = Clamped(total);
  const auto n = static_cast<double>(count);
  figures.avg = static_cast<double>(total) / n;
  const int64_t upper = Select(lists, figures.min, figures.max, count, count / 2);

  // Sums up squares as exact integers, because a sum of doubles would depend on the order. For
  // that, twice the bits of a value plus the bits of the count must stay below 128; values that are
  // too large lose their lowest bits.
  const int most_bits = std::min(47, (126 - static_cast<int>(std::bit_width(count))) / 2);
  const int shift =
      std::max(0, static_cast<int>(std::bit_width(From(figures.min, figures.max))) - most_bits);
  const uint64_t middle =
      static_cast<uint64_t>((total - Wide{figures.min} * static_cast<Wide>(count)) /
                            static_cast<Wide>(count)) >>
      shift;
  const Deviations deviations = DeviationsOf(lists, figures.min, middle, shift, upper);
  figures.med = static_cast<double>(upper);
  if (count % 2 == 0) {
    const int64_t lower = deviations.smaller < count / 2 ? upper : deviations.lower;
    figures.med = (figures.med + static_cast<double>(lower)) / 2;
  }
  if (count > 1) {
    const auto off = static_cast<long double>(deviations.beside);
    const long double variance = (static_cast<long double>(deviations.squares) -
                                  off * off / static_cast<long double>(count)) /
                                 static_cast<long double>(count - 1);
    figures.stddev = std::ldexp(static_cast<double>(std::sqrt(std::max(variance, 0.0L))), shift);
  }
  return figures;
}

double RoundAsSqlite(double value, int decimals) {
  const long double scale = std::pow(10.0L, decimals);
  const long double magnitude = std::fabs(static_cast<long double>(value));
  // As in SQLite: a double may be this much below its decimal text.
  const long double nudge = magnitude * 3e-16L;
  const long double rounded = std::floor((magnitude + nudge) * scale + 0.5L) / scale;
  return static_cast<double>(value < 0 ? -rounded : rounded);
}

}  // namespace tacho
