#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/table.h"

namespace tacho {

// Which rows of a table are shown, and in which order. Columns are named by their keys, as in CSV.
struct TablePick {
  struct Order {
    std::string column;
    std::optional<bool> descending = {};  // absent: true for numbers, false for texts
  };
  // Picks rows by comparing a cell with a value. Durations and shares may have units: 10us, 5%.
  struct Condition {
    std::string column;
    std::string comparison;  // > >= < <= = !=
    std::string value;
  };
  std::optional<Order> order = {};
  std::optional<Condition> condition = {};
  std::string text = {};  // picks rows with this in a text, ignoring case; "": all rows

  [[nodiscard]] bool filters() const { return condition || !text.empty(); }
};

// Reads "--sort COLUMN[:asc|desc]" and "--filter TEXT|COLUMN>VALUE". At least one table must have
// the column. A filter that names no column is a text ("gemm<float>"), unless it compares a name
// with a number ("totl_ns>3us", an error); a filter in double quotes is always a text. kUsage, with
// the names of the columns.
Result<TablePick> ParseTablePick(const std::optional<std::string>& sort,
                                 const std::optional<std::string>& filter,
                                 const std::vector<Table>& tables);

// How many rows of a table passed a filter: `shown` of `of`.
struct PickedRows {
  size_t shown = 0, of = 0;
};
// Filters and sorts. A column that the table lacks changes nothing. Rows without a value come last
// and pass no condition. nullopt: no filter applies to this table.
std::optional<PickedRows> PickRows(Table& table, const TablePick& pick);

}  // namespace tacho
