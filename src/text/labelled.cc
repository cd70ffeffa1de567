#include "text/labelled.h"

#include <algorithm>

#include "text/visible_text.h"

namespace tacho {
namespace {

size_t TextWidth(const TextStyle& style, const TextLayout& layout) {
  return style.width - layout.margin - layout.label_width - 1;
}

void AddWrapped(std::vector<std::string>& lines, std::string_view text, size_t width,
                const TextStyle& style) {
  const std::string wrapped = Wrap(text, width, 0, style.unicode);
  for (size_t begin = 0; begin <= wrapped.size();) {
    const size_t end = std::min(wrapped.find('\n', begin), wrapped.size());
    lines.push_back(wrapped.substr(begin, end - begin));
    begin = end + 1;
  }
}

std::vector<std::string> LinesOf(const Labelled& labelled, const TextStyle& style,
                                 const TextLayout& layout) {
  const size_t width = TextWidth(style, layout);
  std::vector<std::string> lines;
  std::string line;
  for (const std::string& each : labelled.parts) {
    const std::string part = VisibleText(each, style.unicode);
    if (part.empty()) continue;
    const std::string_view dot = line.empty() ? "" : style.dot();
    if (!labelled.on_one_line && !line.empty() &&
        DisplayWidth(line) + DisplayWidth(dot) + DisplayWidth(part) > width) {
      AddWrapped(lines, line, width, style);
      line = part;
    } else {
      line.append(dot).append(part);
    }
  }
  if (line.empty()) return {};
  if (labelled.on_one_line) return {line};
  AddWrapped(lines, line, width, style);
  return lines;
}

std::string WithLabel(const Labelled& labelled, const std::vector<std::string>& lines,
                      const TextStyle& style, const TextLayout& layout) {
  std::string out;
  for (const std::string& line : lines) {
    const std::string label =
        PadRight(out.empty() ? VisibleText(labelled.label) : "", layout.label_width);
    out += std::string(layout.margin, ' ') + Painted(label, layout.label_paint, style) + " " +
           Painted(line, labelled.paint, style) + "\n";
  }
  return out;
}

// Removes the last line and marks the end of the line before it as cut. If there is no room for the
// mark, it replaces the last words of that line.
void LeaveOutLastLine(std::vector<std::string>& lines, const TextStyle& style) {
  const std::string mark = style.unicode ? " …" : " ...";
  lines.pop_back();
  std::string& line = lines.back();
  if (line.ends_with(mark)) line.resize(line.size() - mark.size());
  while (DisplayWidth(line) + DisplayWidth(mark) > TextWidth(style, {})) {
    const size_t word = line.rfind(' ');
    if (word == std::string::npos) break;
    line.resize(word);
  }
  line += mark;
}

}  // namespace

std::string RenderText(const Labelled& labelled, const TextStyle& style, const TextLayout& layout) {
  return WithLabel(labelled, LinesOf(labelled, style, layout), style, layout);
}

std::string RenderWithin(const std::vector<Labelled>& all, size_t most, const TextStyle& style) {
  std::vector<std::vector<std::string>> lines;
  size_t count = 0;
  for (const Labelled& each : all) {
    lines.push_back(LinesOf(each, style, {}));
    count += lines.back().size();
  }
  for (; count > most; --count) {
    const auto longest = std::ranges::max_element(lines, {}, &std::vector<std::string>::size);
    if (longest == lines.end() || longest->size() < 2) break;
    LeaveOutLastLine(*longest, style);
  }
  std::string out;
  for (size_t i = 0; i < all.size(); ++i) out += WithLabel(all[i], lines[i], style, {});
  return out;
}

std::string WholeOrBrief(std::string_view whole, std::string_view brief, const TextStyle& style) {
  const bool fits = LinesOf({"", {std::string(whole)}}, style, {}).size() <= 2;
  return std::string(fits ? whole : brief);
}

}  // namespace tacho
