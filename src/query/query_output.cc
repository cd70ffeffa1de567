#include "query/query_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "query/query_session.h"
#include "text/json_writer.h"
#include "text/table.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kRowsAtOnce = 1000;
constexpr size_t kNarrowest = 24;  // of a text that is shortened

Cell CellAt(const SqliteStatement& statement, int column) {
  switch (statement.Type(column)) {
    case SQLITE_INTEGER:
      return statement.Integer(column);
    case SQLITE_FLOAT:
      return statement.Real(column);
    case SQLITE_TEXT:
      return std::string(statement.Text(column));
    case SQLITE_BLOB: {
      std::string hex;
      for (const char byte : statement.Text(column))
        hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
      return hex;
    }
    default:
      return {};
  }
}

std::vector<std::string> NamesOf(const SqliteStatement& statement) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (int i = 0; i < statement.columns(); ++i) {
    const std::string name = VisibleText(statement.ColumnName(i));
    std::string unique = name;
    for (int n = 2; !taken.insert(unique).second; ++n) unique = fmt::format("{}_{}", name, n);
    names.push_back(unique);
  }
  return names;
}

Table EmptyTable(const std::vector<std::string>& names) {
  Table table{"rows", {}, {}};
  for (const std::string& name : names) table.columns.push_back({name, name, Unit::kExact});
  return table;
}

// Reads up to `most` rows; whether there may be more.
Result<bool> ReadRows(SqliteStatement& statement, size_t most, Table& table) {
  while (table.rows.size() < most) {
    TACHO_ASSIGN_OR_RETURN(const bool is_row, StepWithin(statement));
    if (!is_row) return false;
    std::vector<Cell> cells;
    for (int i = 0; i < statement.columns(); ++i) cells.push_back(CellAt(statement, i));
    table.Add(std::move(cells));
  }
  return true;
}

// Columns with a text are texts. Where the line would be too long these are shortened, each to an
// equal share of it; no column is left out.
void LayOut(Table& table, const TextStyle& style) {
  size_t taken = 1, texts = 0;
  std::vector<size_t> widths;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    TableColumn& column = table.columns[i];
    size_t width = DisplayWidth(column.name);
    for (TableRow& row : table.rows) {
      const auto* const text = std::get_if<std::string>(&row.cells[i]);
      if (text == nullptr) continue;
      column.unit = Unit::kText;
      width = std::max(width, DisplayWidth(VisibleText(*text, style.unicode)));
    }
    for (TableRow& row : table.rows) {  // numbers among texts
      if (column.unit != Unit::kText) {
        const auto* const integer = std::get_if<int64_t>(&row.cells[i]);
        const auto* const number = std::get_if<double>(&row.cells[i]);
        if (integer != nullptr) width = std::max(width, std::to_string(*integer).size());
        if (number != nullptr) width = std::max(width, fmt::format("{}", *number).size());
      } else if (const auto* integer = std::get_if<int64_t>(&row.cells[i])) {
        row.cells[i] = std::to_string(*integer);
      } else if (const auto* number = std::get_if<double>(&row.cells[i])) {
        row.cells[i] = fmt::format("{}", *number);
      }
    }
    widths.push_back(width);
    taken += 2 + (column.unit == Unit::kText ? 0 : width);
    texts += column.unit == Unit::kText ? 1 : 0;
  }
  if (style.whole_names || texts == 0) return;
  // Short texts leave their share to long ones.
  size_t room = style.width > taken ? style.width - taken : 0, left = texts;
  std::vector<size_t> shares(widths.size());
  std::vector<size_t> by_width;
  for (size_t i = 0; i < widths.size(); ++i) {
    if (table.columns[i].unit == Unit::kText) by_width.push_back(i);
  }
  std::ranges::sort(by_width, {}, [&](size_t i) { return widths[i]; });
  for (const size_t i : by_width) {
    shares[i] = std::max(kNarrowest, std::min(widths[i], room / left--));
    room -= std::min(room, shares[i]);
  }
  for (const size_t i : by_width) {
    for (TableRow& row : table.rows) {
      if (auto* text = std::get_if<std::string>(&row.cells[i]))
        *text = FitText(VisibleText(*text, style.unicode), shares[i], style.unicode);
    }
  }
}

Result<bool> WriteTable(SqliteStatement& statement, const QueryOutput& output) {
  Table table = EmptyTable(NamesOf(statement));
  TACHO_ASSIGN_OR_RETURN(bool more, ReadRows(statement, output.top, table));
  if (more) {
    TACHO_ASSIGN_OR_RETURN(more, StepWithin(statement));
  }
  TextStyle style = output.style;
  if (output.form == QueryForm::kMarkdown) style.whole_names = true;
  LayOut(table, style);
  style.whole_names = true;  // no column is left out
  TACHO_RETURN_IF_ERROR(output.write(
      output.form == QueryForm::kMarkdown ? RenderMarkdown(table) : RenderText(table, style)));
  return more;
}

Result<bool> WriteCsv(SqliteStatement& statement, const QueryOutput& output) {
  const Table empty = EmptyTable(NamesOf(statement));
  const std::string heading = RenderCsv(empty);
  TACHO_RETURN_IF_ERROR(output.write(heading));
  for (bool more = true; more;) {
    Table table = empty;
    TACHO_ASSIGN_OR_RETURN(more, ReadRows(statement, kRowsAtOnce, table));
    TACHO_RETURN_IF_ERROR(output.write(std::string_view(RenderCsv(table)).substr(heading.size())));
  }
  return false;
}

Result<bool> WriteJson(SqliteStatement& statement, const QueryOutput& output) {
  const std::vector<std::string> names = NamesOf(statement);
  JsonWriter json;
  json.BeginObject();
  json.Fields("schema", 1, "tacho", output.version);
  json.List("columns", names);
  json.BeginArray("rows");
  for (bool more = true; more;) {
    Table table = EmptyTable(names);
    TACHO_ASSIGN_OR_RETURN(more, ReadRows(statement, kRowsAtOnce, table));
    for (const TableRow& row : table.rows) {
      json.BeginRow();
      for (size_t i = 0; i < names.size(); ++i) {
        if (const auto* text = std::get_if<std::string>(&row.cells[i])) json.Field(names[i], *text);
        if (const auto* integer = std::get_if<int64_t>(&row.cells[i]))
          json.Field(names[i], *integer);
        if (const auto* number = std::get_if<double>(&row.cells[i])) json.Field(names[i], *number);
      }
      json.End();
    }
    TACHO_RETURN_IF_ERROR(output.write(json.Take()));
  }
  json.End();
  json.End();
  TACHO_RETURN_IF_ERROR(output.write(std::move(json).Finish()));
  return false;
}

}  // namespace

Result<bool> WriteRows(SqliteStatement statement, const QueryOutput& output) {
  switch (output.form) {
    case QueryForm::kCsv:
      return WriteCsv(statement, output);
    case QueryForm::kJson:
      return WriteJson(statement, output);
    default:
      return WriteTable(statement, output);
  }
}

}  // namespace tacho
