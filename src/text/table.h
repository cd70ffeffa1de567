#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "text/text_style.h"

namespace tacho {

class JsonWriter;

// What the cells of a column are; decides their format.
enum class Unit : uint8_t {
  kText,      // std::string, left-aligned
  kCount,     // int64_t
  kDuration,  // int64_t in ns; on screen in the unit of the column's unit_group, in files whole ns
  kBytes,     // int64_t
  kShare,     // double, 0..1; percent on screen
  kNumber,    // double
  kBar,       // double, 0..1, drawn; screen only
  kTrend,     // std::vector<double>, drawn; screen only
  kStacked,   // std::vector<double>, shares of 1 side by side, drawn; screen only
  kExact,     // int64_t or double, every digit, no unit; shown even if it is empty
};

// std::monostate: no value, because it is not known; blank on screen and in files.
using Cell = std::variant<std::monostate, std::string, int64_t, double, std::vector<double>>;
inline Cell CountCell(uint64_t count) { return static_cast<int64_t>(count); }
inline Cell CellOf(const std::optional<int64_t>& value) { return value ? Cell(*value) : Cell(); }
inline Cell UnlessNegative(int64_t value) { return value >= 0 ? Cell(value) : Cell(); }

struct TableColumn {
  std::string key;        // heading in a CSV file, unit included: "total_ns"
  std::string name = {};  // heading on the screen; the unit is added
  Unit unit = Unit::kText;
  bool on_screen = true, in_file = true;
  // Takes the unused width of the line, and is shortened if the line is too long.
  bool stretches = false;
  bool adds = false;  // the row "[N others]" shows the sum of the folded values
  static constexpr int kTurns = 3;
  // In which turn the column is left out if the line is too narrow: columns with kTurns go first,
  // those with 1 later, those with 0 last.
  int gives_way = 0;
  // For kText: different cells still look different after they are cut. This holds over all such
  // columns of the table together.
  bool distinct = false;
  size_t narrowest = 12;                // least width of a column that stretches
  size_t bar_width = 12;                // for kBar
  std::vector<std::string> marks = {};  // for kStacked: the meaning of each mark, below the table
  // For kDuration: columns with the same group share a unit, so that they can be compared.
  size_t unit_group = 0;
  int decimals = -1;  // for the doubles of kExact; -1: as many as each has
  // What the column means, as a noun phrase for docs/csv.md. "": the meaning of the JSON field with
  // the same key.
  std::string_view means = {};

  // `meaning` must live as long as the program.
  [[nodiscard]] TableColumn Means(std::string_view meaning) && {
    return means = meaning, std::move(*this);
  }
  [[nodiscard]] TableColumn ScreenOnly() && { return in_file = false, std::move(*this); }
  [[nodiscard]] TableColumn FileOnly(bool yes = true) && {
    return on_screen = !yes, std::move(*this);
  }
  [[nodiscard]] TableColumn Stretches() && { return stretches = true, std::move(*this); }
  [[nodiscard]] TableColumn Adds() && { return adds = true, std::move(*this); }
  [[nodiscard]] TableColumn GivesWay(int turn = 1) && { return gives_way = turn, std::move(*this); }
  [[nodiscard]] TableColumn Distinct(size_t at_least = 28) && {
    return distinct = true, narrowest = at_least, std::move(*this);
  }
  [[nodiscard]] TableColumn Decimals(int count) && { return decimals = count, std::move(*this); }
  [[nodiscard]] TableColumn UnitGroup(size_t group) && {
    return unit_group = group, std::move(*this);
  }
};

struct TableRow {
  std::vector<Cell> cells;  // one for each column
  Paint paint = Paint::kPlain;
};

// One table of a report: the same object gives the text, the CSV file and the Markdown.
struct Table {
  std::string name;  // of the CSV file: "kernels"
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
  size_t never_folded = 0;  // how many of the last rows FoldRows always keeps
  std::string lacks = {};   // what is missing from it, for a message; "": nothing

  void Add(std::vector<Cell> cells, Paint paint = Paint::kPlain) {
    rows.push_back({std::move(cells), paint});
  }
};

// Keeps the first `keep` rows and the last `never_folded`, and sums up the rows between them in one
// row, named "[N others]" in ColumnOfOthers. Does not fold a single row.
void FoldRows(Table& table, size_t keep);
// The first column of text that is always shown, else the first column of text; the number of
// columns if no column is text.
size_t ColumnOfOthers(const Table& table);
// "[7 others]"
std::string OthersText(size_t count);

// The text of a double in a column of Unit::kExact.
std::string ExactNumber(double number, const TableColumn& column);

// A line and the columns it takes (escape sequences for colour take none).
struct TextLine {
  std::string text;
  size_t width = 0;
};

// The heading and one line a row, indented by one, at most style.width wide. To fit, texts are
// shortened; then columns are left out in the order of gives_way. A line below the table names them
// and says how to show them. Trailing blanks are cut.
std::vector<TextLine> RenderLines(const Table& table, const TextStyle& style);
std::string RenderText(const Table& table, const TextStyle& style);

// RFC 4180, with a heading; integers are whole, shares are fractions with six digits. Bytes that
// are not UTF-8 become U+FFFD.
std::string RenderCsv(const Table& table);

// The first `most` rows as an array of objects; a cell without a value has no key.
void WriteRowsJson(JsonWriter& json, std::string_view key, const Table& table,
                   size_t most = SIZE_MAX);

// A GitHub table.
std::string RenderMarkdown(const Table& table);

}  // namespace tacho
