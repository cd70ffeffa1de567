#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "text/format_number.h"
#include "text/json_writer.h"
#include "text/table.h"

namespace tacho {
namespace {

std::string CsvText(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

// Bytes that are not UTF-8 as U+FFFD, all else as it is: a file is no terminal.
std::string CsvCell(const Cell& cell, const TableColumn& column) {
  if (const auto* text = std::get_if<std::string>(&cell)) return CsvText(ValidUtf8(*text));
  if (const auto* integer = std::get_if<int64_t>(&cell)) return fmt::format("{}", *integer);
  if (const auto* number = std::get_if<double>(&cell))
    return column.unit == Unit::kExact ? ExactNumber(*number, column)
                                       : fmt::format("{:.6f}", *number);
  return "";
}

// The sum of a column's cells in the rows [from, to); no value if none of them has one.
Cell SumOf(const Table& table, size_t column, size_t from, size_t to) {
  Cell sum;
  const auto add = [&](auto value) {
    if (auto* so_far = std::get_if<decltype(value)>(&sum)) {
      *so_far += value;
    } else {
      sum = value;
    }
  };
  for (size_t row = from; row < to; ++row) {
    const Cell& cell = table.rows[row].cells[column];
    if (const auto* integer = std::get_if<int64_t>(&cell)) add(*integer);
    if (const auto* number = std::get_if<double>(&cell)) add(*number);
  }
  return sum;
}

}  // namespace

std::string ExactNumber(double number, const TableColumn& column) {
  return column.decimals < 0 ? fmt::format("{}", number)
                             : fmt::format("{:.{}f}", number, column.decimals);
}

void FoldRows(Table& table, size_t keep) {
  const size_t end = table.rows.size() - table.never_folded;
  if (end <= keep || end - keep == 1) return;
  TableRow folded;
  bool named = false;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    Cell cell;
    const TableColumn& column = table.columns[i];
    if (!named && column.unit == Unit::kText && column.on_screen) {
      cell = fmt::format("[{}]", FormatCounted(end - keep, "other"));
      named = true;
    } else if (column.adds) {
      cell = SumOf(table, i, keep, end);
    }
    folded.cells.push_back(std::move(cell));
  }
  table.rows[keep] = std::move(folded);
  const auto first = table.rows.begin() + static_cast<std::ptrdiff_t>(keep);
  table.rows.erase(first + 1, table.rows.end() - static_cast<std::ptrdiff_t>(table.never_folded));
}

std::string RenderCsv(const Table& table) {
  std::string out;
  const auto written = [](const TableColumn& column) { return column.in_file; };
  bool first = true;
  for (const TableColumn& column : table.columns) {
    if (!written(column)) continue;
    out += (first ? "" : ",") + CsvText(column.key);
    first = false;
  }
  out += "\n";
  for (const TableRow& row : table.rows) {
    first = true;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      if (!written(table.columns[i])) continue;
      if (!first) out += ',';
      out += CsvCell(row.cells[i], table.columns[i]);
      first = false;
    }
    out += "\n";
  }
  return out;
}

void WriteRowsJson(JsonWriter& json, std::string_view key, const Table& table, size_t most) {
  json.BeginArray(key);
  for (size_t row = 0; row < std::min(most, table.rows.size()); ++row) {
    json.BeginRow();
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const Cell& cell = table.rows[row].cells[i];
      const std::string& name = table.columns[i].key;
      if (!table.columns[i].in_file) continue;
      if (const auto* text = std::get_if<std::string>(&cell)) json.Field(name, UnlessEmpty(*text));
      if (const auto* integer = std::get_if<int64_t>(&cell)) json.Field(name, *integer);
      if (const auto* number = std::get_if<double>(&cell)) json.Field(name, *number);
    }
    json.End();
  }
  json.End();
}

}  // namespace tacho
