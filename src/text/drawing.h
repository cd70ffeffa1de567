#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "text/text_style.h"

namespace tacho {

// A bar of `share` (0..1) of `width` columns, in eighths of a column; "#" in ASCII. Anything above
// 0 shows.
std::string Bar(double share, size_t width, const TextStyle& style);

// Shares that sum to 1 side by side in exactly `width` columns, one mark each: compute,
// communication, copies, idle (as kStackedMarks).
std::string StackedBar(std::span<const double> shares, size_t width, const TextStyle& style);
std::string StackedMark(size_t index, const TextStyle& style);

// The values as a row of columns of eight heights from 0 to the largest; more than `width` values
// are averaged. Empty for fewer than two.
std::string Sparkline(std::span<const double> values, size_t width, const TextStyle& style);

}  // namespace tacho
