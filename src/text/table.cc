#include "text/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "text/distinct_text.h"
#include "text/drawing.h"
#include "text/format_number.h"
#include "text/markdown_text.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kGap = 2;        // blanks between columns
constexpr size_t kReadable = 16;  // columns of a text that still say something
constexpr size_t kTrendWidth = 16, kStackedWidth = 16;
constexpr size_t kMaxMarkdownName = 160;

bool IsDrawing(Unit unit) {
  return unit == Unit::kBar || unit == Unit::kTrend || unit == Unit::kStacked;
}
bool IsText(Unit unit) { return unit == Unit::kText || IsDrawing(unit); }

// A column ready for the screen or for Markdown: the heading with its unit, and the cells as text.
struct Shown {
  std::string heading;
  std::vector<std::string> cells;
  std::vector<std::string> distinct;  // of a column whose cells are to look different: the cells
  bool left = false;
  bool stretches = false;
  bool gives_way = false;
  size_t narrowest = 0, whole = 0, width = 0;  // whole: of its widest cell
  std::vector<std::string> marks = {};
};

std::string ShowCell(const Cell& cell, const TableColumn& column, TimeUnit time,
                     const TextStyle& style) {
  const Unit unit = column.unit;
  if (const auto* text = std::get_if<std::string>(&cell)) return VisibleText(*text, style.unicode);
  if (const auto* integer = std::get_if<int64_t>(&cell)) {
    if (unit == Unit::kDuration) return FormatIn({*integer}, time);
    if (unit == Unit::kBytes) return FormatBytes(*integer);
    return FormatCount(*integer);
  }
  if (const auto* number = std::get_if<double>(&cell)) {
    if (unit == Unit::kShare) return FormatPercent(*number);
    if (unit == Unit::kBar) return Bar(*number, column.bar_width, style);
    return FormatNumber(*number);
  }
  if (const auto* values = std::get_if<std::vector<double>>(&cell)) {
    return unit == Unit::kStacked ? StackedBar(*values, kStackedWidth, style)
                                  : Sparkline(*values, kTrendWidth, style);
  }
  return "";
}

// The unit of the column's group.
TimeUnit TimeUnitOf(const Table& table, const TableColumn& column) {
  std::vector<int64_t> durations;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const TableColumn& other = table.columns[i];
    if (other.unit != Unit::kDuration || !other.on_screen || other.unit_group != column.unit_group)
      continue;
    for (const TableRow& row : table.rows) {
      if (const auto* ns = std::get_if<int64_t>(&row.cells[i])) durations.push_back(*ns);
    }
  }
  return UnitFor(durations);
}

Shown ShowColumn(const Table& table, size_t index, const TextStyle& style) {
  const TableColumn& column = table.columns[index];
  Shown shown{.heading = column.name,
              .cells = {},
              .distinct = {},
              .left = IsText(column.unit),
              .stretches = column.stretches,
              .gives_way = column.gives_way,
              .narrowest = column.narrowest,
              .marks = column.marks};
  TimeUnit time{};
  if (column.unit == Unit::kDuration) {
    time = TimeUnitOf(table, column);
    shown.heading += fmt::format("{}{}", column.name.empty() ? "" : " ", TimeUnitName(time));
  } else if (column.unit == Unit::kShare) {
    shown.heading += column.name.empty() ? "%" : " %";
  }
  shown.width = DisplayWidth(shown.heading);
  for (const TableRow& row : table.rows) {
    shown.cells.push_back(ShowCell(row.cells[index], column, time, style));
    shown.width = std::max(shown.width, DisplayWidth(shown.cells.back()));
    if (!column.distinct) continue;
    const auto* text = std::get_if<std::string>(&row.cells[index]);
    shown.distinct.push_back(text == nullptr ? "" : *text);
  }
  if (column.unit == Unit::kBar) shown.width = std::max(shown.width, column.bar_width);
  shown.whole = shown.width;
  return shown;
}

// A column without a value in any row is left out of a screen.
bool HasValue(const Table& table, size_t column) {
  return table.rows.empty() ||
         std::any_of(table.rows.begin(), table.rows.end(), [&](const TableRow& row) {
           return !std::holds_alternative<std::monostate>(row.cells[column]);
         });
}

std::vector<Shown> ShowColumns(const Table& table, const TextStyle& style, bool drawings) {
  std::vector<Shown> all;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const TableColumn& column = table.columns[i];
    if (!column.on_screen || !HasValue(table, i)) continue;
    if (!drawings && IsDrawing(column.unit)) continue;
    all.push_back(ShowColumn(table, i, style));
  }
  return all;
}

size_t WidthOf(const std::vector<Shown>& columns) {
  size_t total = 1;
  for (const Shown& column : columns)
    total += column.width + (&column == &columns.front() ? 0 : kGap);
  return total;
}

// The two widest columns that can still be shortened; nullptr where there are none. None becomes
// narrower than `least` or its own bound.
std::pair<Shown*, Shown*> WidestTwo(std::vector<Shown>& columns, size_t least) {
  Shown* widest = nullptr;
  Shown* second = nullptr;
  for (Shown& column : columns) {
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

// Shortens columns that stretch until the line fits, always the widest first; true when it does.
bool Shorten(std::vector<Shown>& columns, size_t width, size_t least) {
  for (Shown& column : columns) column.width = column.whole;
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

// Makes the line fit: texts are shortened as long as they say something, then columns that give way
// are left out, then texts are cut down to their bounds, then any column is left out; each time the
// last one first, and never the first one, which says what the row is.
void FitColumns(std::vector<Shown>& columns, size_t width) {
  const auto leave_out_last = [&](auto is_it) {
    const auto last = std::find_if(columns.rbegin(), std::prev(columns.rend()), is_it);
    if (last == std::prev(columns.rend())) return false;
    columns.erase(std::next(last).base());
    return true;
  };
  do {
    if (Shorten(columns, width, kReadable)) return;
  } while (leave_out_last([](const Shown& column) { return column.gives_way; }));
  do {
    if (Shorten(columns, width, 0)) return;
  } while (leave_out_last([](const Shown&) { return true; }));
}

// Cuts the cells to the widths. Columns whose cells are to look different are cut together, to the
// narrowest of those that are cut at all.
void FitCells(std::vector<Shown>& columns, bool unicode) {
  std::vector<std::string> names, texts;
  size_t narrowest_cut = std::string::npos, widest = 0;
  for (Shown& column : columns) {
    if (column.distinct.empty()) {
      for (std::string& cell : column.cells) cell = FitText(cell, column.width, unicode);
      continue;
    }
    for (const std::string& cell : column.cells) {
      if (DisplayWidth(cell) > column.width) narrowest_cut = std::min(narrowest_cut, column.width);
    }
    widest = std::max(widest, column.width);
    names.insert(names.end(), column.distinct.begin(), column.distinct.end());
    texts.insert(texts.end(), column.cells.begin(), column.cells.end());
  }
  const std::vector<std::string> fitted =
      FitDistinct(names, texts, std::min(narrowest_cut, widest), unicode);
  auto next = fitted.begin();
  for (Shown& column : columns) {
    for (size_t i = 0; i < column.distinct.size(); ++i) column.cells[i] = *next++;
  }
}

TextLine Line(const std::vector<Shown>& columns, size_t row, bool heading, Paint paint,
              const TextStyle& style) {
  std::string line;
  for (const Shown& column : columns) {
    line += line.empty() ? " " : std::string(kGap, ' ');
    const std::string text =
        heading ? FitText(column.heading, column.width, style.unicode) : column.cells[row];
    line += column.left ? PadRight(text, column.width) : PadLeft(text, column.width);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  const size_t width = DisplayWidth(line);
  return {Painted(line, heading ? Paint::kBold : paint, style), width};
}

// " █ compute  · idle"
TextLine MarksLine(const std::vector<std::string>& marks, const TextStyle& style) {
  std::string line;
  for (size_t i = 0; i < marks.size(); ++i)
    line += fmt::format("{} {} {}", i == 0 ? "" : " ", StackedMark(i, style), marks[i]);
  return {Painted(line, Paint::kDim, style), DisplayWidth(line)};
}

}  // namespace

std::vector<TextLine> RenderLines(const Table& table, const TextStyle& style) {
  std::vector<Shown> columns = ShowColumns(table, style, true);
  if (!style.whole_names) FitColumns(columns, style.width);
  FitCells(columns, style.unicode);
  std::vector<TextLine> lines = {Line(columns, 0, true, Paint::kBold, style)};
  for (size_t row = 0; row < table.rows.size(); ++row) {
    lines.push_back(Line(columns, row, false, table.rows[row].paint, style));
  }
  for (const Shown& column : columns) {
    if (!column.marks.empty()) lines.push_back(MarksLine(column.marks, style));
  }
  return lines;
}

std::string RenderText(const Table& table, const TextStyle& style) {
  std::string out;
  for (const TextLine& line : RenderLines(table, style)) out += line.text + "\n";
  return out;
}

std::string RenderMarkdown(const Table& table) {
  std::vector<Shown> columns = ShowColumns(table, TextStyle{}, false);
  for (Shown& column : columns) column.width = std::min(column.width, kMaxMarkdownName);
  FitCells(columns, true);
  std::string out = "|", rule = "|";
  for (const Shown& column : columns) {
    out += " " + MarkdownText(column.heading) + " |";
    rule += column.left ? " :-- |" : " --: |";
  }
  out += "\n" + rule + "\n";
  for (size_t row = 0; row < table.rows.size(); ++row) {
    out += "|";
    for (const Shown& column : columns) out += " " + MarkdownText(column.cells[row]) + " |";
    out += "\n";
  }
  return out;
}

}  // namespace tacho
