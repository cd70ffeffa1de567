#include "text/visible_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "base/utf8.h"

namespace tacho {
namespace {

constexpr bool Within(uint32_t value, uint32_t low, uint32_t high) {
  return low <= value && value <= high;
}

// Whether a character takes no room, or changes the direction of the text after it.
bool IsInvisible(uint32_t code) {
  return Within(code, 0x80, 0x9f) || Within(code, 0x200b, 0x200f) || Within(code, 0x2028, 0x202e) ||
         Within(code, 0x2060, 0x2069) || code == 0xfeff || code == 0xad || code == 0x61c;
}

bool IsWide(uint32_t code) {
  return Within(code, 0x1100, 0x115f) || Within(code, 0x2e80, 0xa4cf) ||
         Within(code, 0xac00, 0xd7a3) || Within(code, 0xf900, 0xfaff) ||
         Within(code, 0xfe30, 0xfe6f) || Within(code, 0xff00, 0xff60) ||
         Within(code, 0xffe0, 0xffe6) || Within(code, 0x1f300, 0x1faff) ||
         Within(code, 0x20000, 0x3fffd);
}

// Whether a word is a number that may be followed by a unit: "1,234.5", "(12.3".
bool IsNumber(std::string_view word) {
  if (word.starts_with('(')) word.remove_prefix(1);
  return !word.empty() && word.find_first_not_of("0123456789.,<>-") == std::string_view::npos;
}

// Whether a word is a unit: "ms", "%", "kB". Punctuation may follow it.
bool IsUnit(std::string_view word) {
  while (!word.empty() && std::string_view(",;:).").find(word.back()) != std::string_view::npos) {
    word.remove_suffix(1);
  }
  constexpr std::string_view kUnits[] = {"ns", "us", "ms", "s", "%", "B", "kB", "MB", "GB", "TB"};
  return std::find(std::begin(kUnits), std::end(kUnits), word) != std::end(kUnits);
}

size_t WidthOf(const Utf8Point& point) {
  if (point.valid && Within(point.value, 0x300, 0x36f)) return 0;
  return point.valid && IsWide(point.value) ? 2 : 1;
}

}  // namespace

std::string VisibleText(std::string_view text, bool unicode) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const Utf8Point point = DecodeUtf8(text, i);
    if (!point.valid) {
      out += unicode ? "\xef\xbf\xbd" : "?";
    } else if (point.value == '\n') {
      out += "\\n";
    } else if (point.value == '\t') {
      out += "\\t";
    } else if (point.value == '\r') {
      out += "\\r";
    } else if (point.value < 0x20 || point.value == 0x7f) {
      out += fmt::format("\\x{:02x}", point.value);
    } else if (IsInvisible(point.value)) {
      out += fmt::format("\\u{:04x}", point.value);
    } else if (point.value >= 0x80 && !unicode) {
      out += '?';
    } else {
      out += text.substr(i, point.length);
    }
    i += point.length;
  }
  return out;
}

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  for (size_t i = 0; i < text.size();) {
    const Utf8Point point = DecodeUtf8(text, i);
    width += WidthOf(point);
    i += point.length;
  }
  return width;
}

std::string_view ElisionMark(bool unicode) { return unicode ? "…" : "..."; }

std::string FitText(std::string_view text, size_t width, bool unicode) {
  if (text.size() <= width || DisplayWidth(text) <= width) return std::string(text);
  const std::string_view mark = ElisionMark(unicode);
  const size_t mark_width = DisplayWidth(mark);
  if (width <= mark_width) return "";
  std::vector<std::pair<size_t, size_t>> points;  // byte offset, number of columns
  for (size_t i = 0; i < text.size();) {
    const Utf8Point point = DecodeUtf8(text, i);
    points.emplace_back(i, WidthOf(point));
    i += point.length;
  }
  const size_t room = width - mark_width;
  const size_t tail_room = room / 3;
  size_t head = 0, used = 0;
  while (head < points.size() && used + points[head].second <= room - tail_room) {
    used += points[head++].second;
  }
  size_t tail = points.size(), tail_used = 0;
  while (tail > head && tail_used + points[tail - 1].second <= tail_room) {
    tail_used += points[--tail].second;
  }
  const size_t tail_at = tail < points.size() ? points[tail].first : text.size();
  return std::string(text.substr(0, points[head].first)) + std::string(mark) +
         std::string(text.substr(tail_at));
}

std::string PadRight(std::string_view text, size_t width) {
  const size_t used = DisplayWidth(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string PadLeft(std::string_view text, size_t width) {
  const size_t used = DisplayWidth(text);
  return std::string(used < width ? width - used : 0, ' ') + std::string(text);
}

std::string Wrap(std::string_view text, size_t width, size_t indent_of_further_lines,
                 bool unicode) {
  std::string out;
  size_t used = 0;
  for (size_t i = 0; i < text.size();) {
    size_t end = std::min(text.find(' ', i), text.size());
    // A number and its unit, such as "84.5 ms", stay together.
    if (end < text.size() && IsNumber(text.substr(i, end - i))) {
      const size_t unit_end = std::min(text.find(' ', end + 1), text.size());
      if (IsUnit(text.substr(end + 1, unit_end - end - 1))) end = unit_end;
    }
    const std::string word =
        FitText(text.substr(i, end - i), width - indent_of_further_lines, unicode);
    const size_t word_width = DisplayWidth(word);
    if (used > 0 && used + 1 + word_width > width) {
      out += '\n';
      out += std::string(indent_of_further_lines, ' ');
      used = indent_of_further_lines;
    } else if (i > 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used += word_width;
    i = end + 1;
  }
  return out;
}

}  // namespace tacho
