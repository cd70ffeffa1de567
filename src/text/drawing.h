#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "text/text_style.h"

namespace tacho {

// A bar that fills a `share` (0 to 1) of `width` columns, in steps of an eighth of a column; made
// of "#" in ASCII. A share above 0 is always visible.
std::string Bar(double share, size_t width, const TextStyle& style);

// Draws shares that sum to 1 next to each other in exactly `width` columns. Each share has its own
// mark (StackedMark): compute, communication, copies, idle.
std::string StackedBar(std::span<const double> shares, size_t width, const TextStyle& style);
std::string StackedMark(size_t index, const TextStyle& style);

// Draws one column for each value, with eight heights between 0 and the largest value. If there are
// more than `width` values, each column shows the average of several. "" for fewer than two values.
std::string Sparkline(std::span<const double> values, size_t width, const TextStyle& style);

}  // namespace tacho
