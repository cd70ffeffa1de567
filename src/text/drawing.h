#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "text/text_style.h"

namespace tacho {

// A bar that fills `share` (0..1) of `width` columns, in eighths of a column; "#" in ASCII. A share
// above 0 is always visible.
std::string Bar(double share, size_t width, const TextStyle& style);

// Draws shares that sum to 1 side by side in exactly `width` columns. Each share has a mark of its
// own (StackedMark): compute, communication, copies, idle.
std::string StackedBar(std::span<const double> shares, size_t width, const TextStyle& style);
std::string StackedMark(size_t index, const TextStyle& style);

// The values as a row of columns of eight heights from 0 to the largest; more than `width` values
// are averaged. Empty for fewer than two values.
std::string Sparkline(std::span<const double> values, size_t width, const TextStyle& style);

}  // namespace tacho
