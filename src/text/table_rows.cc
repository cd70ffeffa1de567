#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/time.h"
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

// The text of a cell in a CSV file. Bytes that are not UTF-8 become U+FFFD. Control characters
// stay, because they do no harm in a file, unlike on a terminal.
std::string CsvCell(const Cell& cell, const TableColumn& column) {
  if (const auto* text = std::get_if<std::string>(&cell)) return CsvText(ValidUtf8(*text));
  if (const auto* integer = std::get_if<int64_t>(&cell)) return fmt::format("{}", *integer);
  if (const auto* number = std::get_if<double>(&cell)) {
    if (column.unit == Unit::kExact) return ExactNumber(*number, column);
    std::string text = fmt::format("{:.6f}", *number);
    return text == "-0.000000" ? "0.000000" : text;
  }
  return "";
}

// The sum of a column's cells in the rows [from, to). No value if none of them has one.
Cell SumOf(const Table& table, size_t column, size_t from, size_t to) {
  Cell sum;
  const auto add = [&](auto value) {
    if (auto* so_far = std::get_if<decltype(value)>(&sum)) {
      if constexpr (std::is_integral_v<decltype(value)>)
        *so_far = AddSaturated(*so_far, value);
      else
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

std::string OthersText(size_t count) { return fmt::format("[{}]", FormatCounted(count, "other")); }

size_t ColumnOfOthers(const Table& table) {
  size_t first = table.columns.size();
  for (size_t i = table.columns.size(); i-- > 0;)
    if (table.columns[i].unit == Unit::kText && table.columns[i].on_screen) first = i;
  for (size_t i = first; i < table.columns.size(); ++i) {
    const TableColumn& column = table.columns[i];
    if (column.unit == Unit::kText && column.on_screen && column.gives_way == 0) return i;
  }
  return first;
}

void FoldRows(Table& table, size_t keep) {
  const size_t end = table.rows.size() - table.never_folded;
  if (end <= keep || end - keep == 1) return;
  TableRow folded;
  for (size_t i = 0; i < table.columns.size(); ++i)
    folded.cells.push_back(table.columns[i].adds ? SumOf(table, i, keep, end) : Cell());
  if (const size_t name = ColumnOfOthers(table); name < table.columns.size())
    folded.cells[name] = OthersText(end - keep);
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
