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

// What the cells of a column contain. Decides how they are formatted.
enum class Unit : uint8_t {
  kText,      // std::string, left-aligned
  kCount,     // int64_t
  kDuration,  // int64_t in ns; on a screen in a unit shared by the unit_group, in files in whole ns
  kBytes,     // int64_t
  kShare,     // double, 0 to 1; in percent on a screen
  kNumber,    // double
  kBar,       // double, 0 to 1, drawn as a bar; screen only
  kTrend,     // std::vector<double>, drawn; screen only
  kStacked,   // std::vector<double>, shares that sum to 1, drawn next to each other; screen only
  kExact,     // int64_t or double, all digits, without a unit; shown even if it has no values
};

// std::monostate: the value is unknown; blank on a screen and in files.
using Cell = std::variant<std::monostate, std::string, int64_t, double, std::vector<double>>;
inline Cell CountCell(uint64_t count) { return static_cast<int64_t>(count); }
inline Cell CellOf(const std::optional<int64_t>& value) { return value ? Cell(*value) : Cell(); }
inline Cell UnlessNegative(int64_t value) { return value >= 0 ? Cell(value) : Cell(); }

struct TableColumn {
  std::string key;        // heading in a CSV file, with the unit: "total_ns"
  std::string name = {};  // heading on a screen, where the unit is added
  Unit unit = Unit::kText;
  bool on_screen = true, in_file = true;
  // The column takes the unused width of the line, and is shortened if the line is too long.
  bool stretches = false;
  bool adds = false;  // the row "[N others]" shows the sum of the values in the rows it stands for
  static constexpr int kTurns = 3;
  // The order in which columns are left out if the line is too narrow: first those with kTurns,
  // then those with lower numbers, last those with 0.
  int gives_way = 0;
  // For kText: whether different cells must still look different after they are cut. This holds
  // across all columns of the table that have this set.
  bool distinct = false;
  size_t narrowest = 12;                // least width if the column is shortened
  size_t bar_width = 12;                // for kBar
  std::vector<std::string> marks = {};  // for kStacked: what each mark means, shown below the table
  // For kDuration: columns with the same number are shown in the same unit, so that they can be
  // compared.
  size_t unit_group = 0;
  int decimals = -1;  // for doubles in kExact; -1: as many as the number has
  // What the column means, as a noun phrase for docs/csv.md. "": it means the same as the JSON
  // field with this key.
  std::string_view means = {};

  // `meaning` must exist as long as the program runs.
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

// One table of a report. The text, the CSV file and the Markdown are all made from it.
struct Table {
  std::string name;  // name of its CSV file: "kernels"
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
  size_t never_folded = 0;  // FoldRows always keeps this many of the last rows
  std::string lacks = {};   // what is missing from the table, for a message; "": nothing

  void Add(std::vector<Cell> cells, Paint paint = Paint::kPlain) {
    rows.push_back({std::move(cells), paint});
  }
};

// Keeps the first `keep` rows and the last `never_folded` rows. The rows between them are summed up
// in one row, which has "[N others]" in ColumnOfOthers. A single row is not replaced.
void FoldRows(Table& table, size_t keep);
// Index of the first text column that is always shown; if there is none, of the first text column;
// if there is none, the number of columns.
size_t ColumnOfOthers(const Table& table);
// Such as "[7 others]".
std::string OthersText(size_t count);

// The text of a double in a column of Unit::kExact.
std::string ExactNumber(double number, const TableColumn& column);

// A line, and how many columns it takes on a terminal. Escape sequences for color take none.
struct TextLine {
  std::string text;
  size_t width = 0;
};

// The heading and one line for each row, indented by one column, at most style.width wide. If they
// do not fit, texts are shortened; then columns are left out in the order of gives_way, and a line
// below the table names them and tells how to show them. Blanks at the ends of lines are removed.
std::vector<TextLine> RenderLines(const Table& table, const TextStyle& style);
std::string RenderText(const Table& table, const TextStyle& style);

// CSV by RFC 4180, with a header row. Integers are written in full. Other numbers have six decimals
// (unless Unit::kExact); shares are fractions of 1. Bytes that are not UTF-8 become U+FFFD.
std::string RenderCsv(const Table& table);

// Writes the first `most` rows as an array of objects. A cell without a value has no key.
void WriteRowsJson(JsonWriter& json, std::string_view key, const Table& table,
                   size_t most = SIZE_MAX);

// The table in the Markdown of GitHub.
std::string RenderMarkdown(const Table& table);

}  // namespace tacho
