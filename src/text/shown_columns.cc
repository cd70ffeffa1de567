#include "text/shown_columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/distinct_text.h"
#include "text/drawing.h"
#include "text/format_number.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kTrendWidth = 16, kStackedWidth = 16;

bool IsText(Unit unit) { return unit == Unit::kText || IsDrawing(unit); }

std::string ShowCell(const Cell& cell, const TableColumn& column, TimeUnit time,
                     const TextStyle& style) {
  const Unit unit = column.unit;
  if (const auto* text = std::get_if<std::string>(&cell)) return VisibleText(*text, style.unicode);
  if (const auto* integer = std::get_if<int64_t>(&cell)) {
    if (unit == Unit::kDuration) return FormatIn({*integer}, time);
    if (unit == Unit::kBytes) return FormatBytes(*integer);
    if (unit == Unit::kExact) return std::to_string(*integer);
    return FormatCount(*integer);
  }
  if (const auto* number = std::get_if<double>(&cell)) {
    if (unit == Unit::kShare) return FormatPercent(*number);
    if (unit == Unit::kExact) return ExactNumber(*number, column);
    if (unit == Unit::kBar) return Bar(*number, column.bar_width, style);
    return FormatNumber(*number);
  }
  if (const auto* values = std::get_if<std::vector<double>>(&cell)) {
    return unit == Unit::kStacked ? StackedBar(*values, kStackedWidth, style)
                                  : Sparkline(*values, kTrendWidth, style);
  }
  return "";
}

// The unit in which all columns of this column's group are shown.
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

ShownColumn ShowColumn(const Table& table, size_t index, const TextStyle& style) {
  const TableColumn& column = table.columns[index];
  ShownColumn shown{.heading = column.name,
                    .cells = {},
                    .distinct = {},
                    .index = index,
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

// Whether any row has a value in the column. Columns of unit kExact and all columns of a table
// without rows count as if they had one. Columns that have none are not shown on a screen.
bool HasValue(const Table& table, size_t column) {
  return table.rows.empty() || table.columns[column].unit == Unit::kExact ||
         std::any_of(table.rows.begin(), table.rows.end(), [&](const TableRow& row) {
           return !std::holds_alternative<std::monostate>(row.cells[column]);
         });
}

}  // namespace

bool IsDrawing(Unit unit) {
  return unit == Unit::kBar || unit == Unit::kTrend || unit == Unit::kStacked;
}

std::vector<ShownColumn> ShowColumns(const Table& table, const TextStyle& style, bool drawings) {
  std::vector<ShownColumn> all;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const TableColumn& column = table.columns[i];
    if (!column.on_screen || !HasValue(table, i)) continue;
    if (!drawings && IsDrawing(column.unit)) continue;
    all.push_back(ShowColumn(table, i, style));
  }
  return all;
}

void FitCells(std::vector<ShownColumn>& columns, bool unicode) {
  std::vector<std::string> names, texts;
  size_t narrowest_cut = std::string::npos, widest = 0;
  for (ShownColumn& column : columns) {
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
  for (ShownColumn& column : columns) {
    for (size_t i = 0; i < column.distinct.size(); ++i) column.cells[i] = *next++;
  }
}

}  // namespace tacho
