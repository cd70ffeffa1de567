#include "query/query_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <utility>

#include "query/query_session.h"
#include "text/json_writer.h"
#include "text/table.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr size_t kRowsAtOnce = 1000;
constexpr size_t kTextsAtOnce = size_t{16} << 20;  // bytes, for CSV and JSON
constexpr size_t kMostTexts = size_t{512} << 20;   // bytes, for a table and for a row
constexpr size_t kNarrowest = 24;                  // least width of a text that is shortened

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
  const bool named = std::ranges::find(names, "name") != names.end();
  for (const std::string& name : names) {
    TableColumn& column = table.columns.emplace_back(TableColumn{name, name, Unit::kExact});
    // On a narrow screen, SELECT * FROM kernels has more columns than fit. short_name and
    // category repeat what the name says, so they are dropped first.
    if (named && name == "short_name") column.gives_way = TableColumn::kTurns;
    if (named && name == "category") column.gives_way = TableColumn::kTurns - 1;
  }
  return table;
}

tl::unexpected<Error> TooManyTexts() {
  return Fail(ErrorKind::kUsage,
              "the rows hold more than 512 MB of texts: select less, or take --csv");
}

// Reads until the table has `most` rows or its texts have `most_texts` bytes. Returns whether there
// may be more rows.
Result<bool> ReadRows(SqliteStatement& statement, size_t most, size_t most_texts, Table& table) {
  size_t texts = 0;
  while (table.rows.size() < most && texts < most_texts) {
    TACHO_ASSIGN_OR_RETURN(const bool is_row, StepWithin(statement));
    if (!is_row) return false;
    std::vector<Cell> cells;
    for (int i = 0; i < statement.columns(); ++i) {
      cells.push_back(CellAt(statement, i));
      if (const auto* const text = std::get_if<std::string>(&cells.back())) texts += text->size();
      if (texts > kMostTexts) return TooManyTexts();
    }
    table.Add(std::move(cells));
  }
  return true;
}
Result<bool> ReadSomeRows(SqliteStatement& statement, Table& table) {
  return ReadRows(statement, kRowsAtOnce, kTextsAtOnce, table);
}

// How many decimals to show in a column: three, or more if the smallest number needs them to show
// six digits. Decimals that are 0 in all rows are dropped. -1, if a number is very large or very
// small: each number has as many decimals as it needs.
int DecimalsOf(const Table& table, size_t column) {
  double least = INFINITY, most = 0;
  for (const TableRow& row : table.rows) {
    const auto* const number = std::get_if<double>(&row.cells[column]);
    if (number == nullptr || *number == 0) continue;
    least = std::min(least, std::fabs(*number));
    most = std::max(most, std::fabs(*number));
  }
  if (most >= 1e15 || least < 1e-9) return -1;
  const int first = most == 0 ? 0 : static_cast<int>(std::floor(std::log10(least)));
  const int decimals = std::max(3, 5 - first);
  int needed = 0;
  for (const TableRow& row : table.rows) {
    const auto* const number = std::get_if<double>(&row.cells[column]);
    if (number == nullptr) continue;
    const std::string text = fmt::format("{:.{}f}", *number, decimals);
    const auto zeros = static_cast<int>(text.size() - 1 - text.find_last_not_of('0'));
    needed = std::max(needed, decimals - zeros);
  }
  return needed;
}

// Makes every column that has a text a column of texts. If lines would be too long, shortens the
// texts so that these columns share the room equally. With `fits` the texts stay whole, because
// RenderText then leaves out columns instead. Fails if style.whole_names is set and the texts make
// the table too large.
Result<void> LayOut(Table& table, const TextStyle& style, bool fits) {
  size_t taken = 1;
  std::vector<size_t> widths;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    TableColumn& column = table.columns[i];
    column.decimals = DecimalsOf(table, i);
    size_t width = DisplayWidth(column.name);
    for (TableRow& row : table.rows) {
      const auto* const text = std::get_if<std::string>(&row.cells[i]);
      if (text == nullptr) continue;
      column.unit = Unit::kText;
      width = std::max(width, DisplayWidth(VisibleText(*text, style.unicode)));
    }
    for (TableRow& row : table.rows) {  // turns numbers in a column of texts into texts
      if (column.unit != Unit::kText) {
        const auto* const integer = std::get_if<int64_t>(&row.cells[i]);
        const auto* const number = std::get_if<double>(&row.cells[i]);
        if (integer != nullptr) width = std::max(width, std::to_string(*integer).size());
        if (number != nullptr) width = std::max(width, ExactNumber(*number, column).size());
      } else if (const auto* integer = std::get_if<int64_t>(&row.cells[i])) {
        row.cells[i] = std::to_string(*integer);
      } else if (const auto* number = std::get_if<double>(&row.cells[i])) {
        row.cells[i] = ExactNumber(*number, column);
      }
    }
    column.stretches = column.unit == Unit::kText;
    widths.push_back(width);
    taken += 2 + (column.unit == Unit::kText ? 0 : width);
  }
  if (style.whole_names) {
    const size_t line = std::accumulate(widths.begin(), widths.end(), size_t{0});
    return line > kMostTexts / std::max<size_t>(1, table.rows.size()) ? TooManyTexts()
                                                                      : Result<void>();
  }
  if (fits) return {};
  // Columns of short texts leave the rest of their share to the others.
  size_t room = style.width > taken ? style.width - taken : 0;
  std::vector<size_t> shares(widths.size());
  std::vector<size_t> by_width;
  for (size_t i = 0; i < widths.size(); ++i) {
    if (table.columns[i].unit == Unit::kText) by_width.push_back(i);
  }
  std::ranges::sort(by_width, {}, [&](size_t i) { return widths[i]; });
  for (size_t done = 0; done < by_width.size(); ++done) {
    size_t& share = shares[by_width[done]];
    share = std::max(kNarrowest, std::min(widths[by_width[done]], room / (by_width.size() - done)));
    room -= std::min(room, share);
  }
  for (const size_t i : by_width) {
    for (TableRow& row : table.rows) {
      if (auto* text = std::get_if<std::string>(&row.cells[i]))
        *text = FitText(VisibleText(*text, style.unicode), shares[i], style.unicode);
    }
  }
  return {};
}

Result<RowsWritten> WriteTable(SqliteStatement& statement, const QueryOutput& output) {
  Table table = EmptyTable(NamesOf(statement));
  TACHO_ASSIGN_OR_RETURN(bool more, ReadRows(statement, output.top, SIZE_MAX, table));
  if (more) {
    TACHO_ASSIGN_OR_RETURN(more, StepWithin(statement));
  }
  TextStyle style = output.style;
  if (output.form == QueryForm::kMarkdown) style.whole_names = true;
  const bool fits = output.fits && !style.whole_names;
  TACHO_RETURN_IF_ERROR(LayOut(table, style, fits));
  style.whole_names = !fits;
  TACHO_ASSIGN_OR_RETURN(const bool is_read, output.write(output.form == QueryForm::kMarkdown
                                                              ? RenderMarkdown(table)
                                                              : RenderText(table, style)));
  if (!is_read) return RowsWritten::kNobodyReads;
  return more ? RowsWritten::kTop : RowsWritten::kAll;
}

Result<RowsWritten> WriteCsv(SqliteStatement& statement, const QueryOutput& output) {
  const Table empty = EmptyTable(NamesOf(statement));
  const std::string heading = RenderCsv(empty);
  TACHO_ASSIGN_OR_RETURN(bool is_read, output.write(heading));
  for (bool more = true; more && is_read;) {
    Table table = empty;
    TACHO_ASSIGN_OR_RETURN(more, ReadSomeRows(statement, table));
    TACHO_ASSIGN_OR_RETURN(is_read,
                           output.write(std::string_view(RenderCsv(table)).substr(heading.size())));
  }
  return is_read ? RowsWritten::kAll : RowsWritten::kNobodyReads;
}

// Writes a number. JSON has no number for infinity; it is written as in the sqlite3 shell, as a
// number so large that readers make it infinite again.
void WriteNumber(JsonWriter& json, std::string_view name, double number) {
  if (std::isinf(number))
    json.JsonField(name, number > 0 ? "9.0e+999" : "-9.0e+999");
  else
    json.Field(name, number);
}

Result<RowsWritten> WriteJson(SqliteStatement& statement, const QueryOutput& output) {
  const std::vector<std::string> names = NamesOf(statement);
  JsonWriter json;
  json.BeginObject();
  WriteTachoJson(json, output.version);
  json.List("columns", names);
  json.BeginArray("rows");
  for (bool more = true; more;) {
    Table table = EmptyTable(names);
    TACHO_ASSIGN_OR_RETURN(more, ReadSomeRows(statement, table));
    for (const TableRow& row : table.rows) {
      json.BeginRow();
      for (size_t i = 0; i < names.size(); ++i) {
        if (const auto* text = std::get_if<std::string>(&row.cells[i])) json.Field(names[i], *text);
        if (const auto* integer = std::get_if<int64_t>(&row.cells[i]))
          json.Field(names[i], *integer);
        if (const auto* number = std::get_if<double>(&row.cells[i]))
          WriteNumber(json, names[i], *number);
      }
      json.End();
    }
    TACHO_ASSIGN_OR_RETURN(const bool is_read, output.write(json.Take()));
    if (!is_read) return RowsWritten::kNobodyReads;
  }
  json.End();
  json.End();
  TACHO_ASSIGN_OR_RETURN(const bool is_read, output.write(std::move(json).Finish()));
  return is_read ? RowsWritten::kAll : RowsWritten::kNobodyReads;
}

}  // namespace

Result<RowsWritten> WriteRows(SqliteStatement statement, const QueryOutput& output) {
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
