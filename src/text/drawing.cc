#include "text/drawing.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace tacho {
namespace {

constexpr std::string_view kEighthsAcross[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
constexpr std::string_view kEighthsUp[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kHeightsAscii[] = {"_", ".", ",", "-", "=", "+", "*", "#"};
constexpr std::string_view kMarks[] = {"█", "▒", "░", "·"};
constexpr std::string_view kMarksAscii[] = {"#", "=", "-", "."};

}  // namespace

std::string Bar(double share, size_t width, const TextStyle& style) {
  share = std::clamp(share, 0.0, 1.0);
  std::string out;
  if (!style.unicode) {
    auto whole = static_cast<size_t>(std::lround(share * static_cast<double>(width)));
    if (whole == 0 && share > 0) whole = 1;
    out.assign(whole, '#');
    return out;
  }
  auto eighths = static_cast<size_t>(std::lround(share * static_cast<double>(width) * 8));
  if (eighths == 0 && share > 0) eighths = 1;
  for (size_t i = 0; i < eighths / 8; ++i) out += kEighthsAcross[8];
  out += kEighthsAcross[eighths % 8];
  return out;
}

std::string StackedMark(size_t index, const TextStyle& style) {
  return std::string(style.unicode ? kMarks[index] : kMarksAscii[index]);
}

std::string StackedBar(std::span<const double> shares, size_t width, const TextStyle& style) {
  std::string out;
  double sum = 0;
  size_t drawn = 0;
  for (size_t i = 0; i < shares.size() && i < std::size(kMarks); ++i) {
    sum += std::clamp(shares[i], 0.0, 1.0);
    const auto end =
        static_cast<size_t>(std::lround(std::min(sum, 1.0) * static_cast<double>(width)));
    for (; drawn < end; ++drawn) out += StackedMark(i, style);
  }
  return out;
}

std::string Sparkline(std::span<const double> values, size_t width, const TextStyle& style) {
  if (values.size() < 2 || width == 0) return "";
  const size_t columns = std::min(width, values.size());
  std::vector<double> heights;
  for (size_t c = 0; c < columns; ++c) {
    const size_t begin = c * values.size() / columns;
    const size_t end = (c + 1) * values.size() / columns;
    double sum = 0;
    for (size_t i = begin; i < end; ++i) sum += values[i];
    heights.push_back(sum / static_cast<double>(end - begin));
  }
  const double top = *std::max_element(heights.begin(), heights.end());
  std::string out;
  for (const double height : heights) {
    const auto step = top <= 0 ? 0 : static_cast<size_t>(std::lround(height / top * 7));
    out += style.unicode ? kEighthsUp[std::min<size_t>(step, 7)]
                         : kHeightsAscii[std::min<size_t>(step, 7)];
  }
  return out;
}

}  // namespace tacho
