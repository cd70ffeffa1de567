#include "text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "text/drawing.h"
#include "text/format_number.h"
#include "text/markdown_text.h"
#include "text/shown_columns.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kGap = 2;        // blanks between columns
constexpr size_t kReadable = 16;  // a text narrower than this tells nothing
constexpr size_t kMaxMarkdownName = 160;

size_t WidthOf(const std::vector<ShownColumn>& columns) {
  size_t total = 1;
  for (const ShownColumn& column : columns)
    total += column.width + (&column == &columns.front() ? 0 : kGap);
  return total;
}

// The two widest columns that can still be shortened. A column cannot be shortened below `least` or
// below its own `narrowest`. nullptr if there is no such column.
std::pair<ShownColumn*, ShownColumn*> WidestTwo(std::vector<ShownColumn>& columns, size_t least) {
  ShownColumn* widest = nullptr;
  ShownColumn* second = nullptr;
  for (ShownColumn& column : columns) {
    if (!column.stretches || column.width <= std::max(column.narrowest, least)) continue;
    if (widest == nullptr || column.width > widest->width) {
      second = widest;
      widest = &column;
    } else if (second == nullptr || column.width > second->width) {
      second = &column;
    }
  }
  return {widest, second};
}

// Shortens columns that stretch, the widest one first, until the line fits. False if it cannot fit.
bool Shorten(std::vector<ShownColumn>& columns, size_t width, size_t least) {
  for (ShownColumn& column : columns) column.width = column.whole;
  size_t total = WidthOf(columns);
  while (total > width) {
    const auto [widest, second] = WidestTwo(columns, least);
    if (widest == nullptr) return false;
    const size_t floor =
        std::max({widest->narrowest, least,
                  second == nullptr ? 0 : std::min(widest->width - 1, second->width)});
    const size_t cut = std::min(total - width, widest->width - floor);
    widest->width -= cut;
    total -= cut;
  }
  return true;
}

// Makes the line fit into `width`: shortens texts while they stay legible; then leaves out columns
// that have gives_way; then cuts texts to their narrowest width; then leaves out any other column.
// Of several candidates the last column is left out first. The first column always stays, because
// it names the row.
void FitColumns(std::vector<ShownColumn>& columns, size_t width) {
  const auto leave_out_last = [&](auto is_it) {
    const auto last = std::find_if(columns.rbegin(), std::prev(columns.rend()), is_it);
    if (last == std::prev(columns.rend())) return false;
    columns.erase(std::next(last).base());
    return true;
  };
  for (int turn = TableColumn::kTurns; turn > 0;) {
    if (Shorten(columns, width, kReadable)) return;
    if (!leave_out_last([&](const ShownColumn& column) { return column.gives_way == turn; }))
      --turn;
  }
  do {
    if (Shorten(columns, width, 0)) return;
  } while (leave_out_last([](const ShownColumn&) { return true; }));
}

TextLine Line(const std::vector<ShownColumn>& columns, size_t row, bool heading, Paint paint,
              const TextStyle& style) {
  std::string line;
  for (const ShownColumn& column : columns) {
    line += line.empty() ? " " : std::string(kGap, ' ');
    const std::string text =
        heading ? FitText(column.heading, column.width, style.unicode) : column.cells[row];
    line += column.left ? PadRight(text, column.width) : PadLeft(text, column.width);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  const size_t width = DisplayWidth(line);
  return {Painted(line, heading ? Paint::kBold : paint, style), width};
}

// The line below a table that explains the marks: " █ compute  · idle".
TextLine MarksLine(const std::vector<std::string>& marks, const TextStyle& style) {
  std::string line;
  for (size_t i = 0; i < marks.size(); ++i)
    line += fmt::format("{} {} {}", i == 0 ? "" : " ", StackedMark(i, style), marks[i]);
  return {Painted(line, Paint::kDim, style), DisplayWidth(line)};
}

// The line below a table that names the columns left out, as many as fit: " left out: Max (ns),
// StdDev (ns) (--wide)", " left out: TMed (ns), and 9 more (--wide)". No name is cut.
TextLine LeftOutLine(const std::vector<std::string>& names, const TextStyle& style) {
  const std::string end = fmt::format(
      " ({})", style.wide_option.empty() ? "COLUMNS=200 shows them" : style.wide_option);
  const size_t room = style.width - std::min(style.width, 1 + end.size());
  std::string shown =
      FitText("left out: " + FormatCounted(names.size(), "column"), room, style.unicode);
  std::string first = "left out: ";
  for (size_t i = 0; i < names.size(); ++i) {
    first += (i == 0 ? "" : ", ") + names[i];
    const size_t more = names.size() - 1 - i;
    std::string text = first + (more == 0 ? "" : fmt::format(", and {} more", more));
    if (DisplayWidth(text) <= room) shown = std::move(text);
  }
  const std::string line = " " + shown + end;
  return {Painted(line, Paint::kDim, style), DisplayWidth(line)};
}

}  // namespace

std::vector<TextLine> RenderLines(const Table& table, const TextStyle& style) {
  std::vector<ShownColumn> columns = ShowColumns(table, style, true);
  std::vector<std::string> left_out;
  if (!style.whole_names) {
    for (const ShownColumn& column : columns) left_out.push_back(column.heading);
    FitColumns(columns, style.width);
    for (const ShownColumn& column : columns)
      left_out.erase(std::ranges::find(left_out, column.heading));
    // A bar has no heading, and only draws a figure that its row also shows.
    std::erase(left_out, "");
  }
  FitCells(columns, style.unicode);
  std::vector<TextLine> lines = {Line(columns, 0, true, Paint::kBold, style)};
  for (size_t row = 0; row < table.rows.size(); ++row) {
    lines.push_back(Line(columns, row, false, table.rows[row].paint, style));
  }
  for (const ShownColumn& column : columns) {
    if (!column.marks.empty()) lines.push_back(MarksLine(column.marks, style));
  }
  if (!left_out.empty()) lines.push_back(LeftOutLine(left_out, style));
  return lines;
}

std::string RenderText(const Table& table, const TextStyle& style) {
  std::string out;
  for (const TextLine& line : RenderLines(table, style)) out += line.text + "\n";
  return out;
}

std::string RenderMarkdown(const Table& table) {
  std::vector<ShownColumn> columns = ShowColumns(table, TextStyle{}, false);
  for (ShownColumn& column : columns) column.width = std::min(column.width, kMaxMarkdownName);
  FitCells(columns, true);
  std::string out = "|", rule = "|";
  for (const ShownColumn& column : columns) {
    out += " " + MarkdownText(column.heading) + " |";
    rule += column.left ? " :-- |" : " --: |";
  }
  out += "\n" + rule + "\n";
  for (size_t row = 0; row < table.rows.size(); ++row) {
    out += "|";
    for (const ShownColumn& column : columns) out += " " + MarkdownText(column.cells[row]) + " |";
    out += "\n";
  }
  return out;
}

}  // namespace tacho
