#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/table.h"

namespace tacho {

// Which rows of a table are shown, in which order. Columns are named by their keys, as in CSV.
struct TablePick {
  struct Order {
    std::string column;
    std::optional<bool> descending = {};  // absent: true for numbers, false for text
  };
  // Keeps the rows whose cell in `column` satisfies the comparison with `value`. Durations and
  // shares may have units: 10us, 5%.
  struct Condition {
    std::string column;
    std::string comparison;  // > >= < <= = !=
    std::string value;
  };
  std::optional<Order> order = {};
  std::optional<Condition> condition = {};
  // Keeps rows that contain this in a text cell, ignoring case; "": all rows.
  std::string text = {};

  [[nodiscard]] bool filters() const { return condition || !text.empty(); }
};

// Reads the values of --sort (COLUMN[:asc|desc]) and --filter (TEXT or COLUMN>VALUE). At least one
// table must have the column. A filter that does not begin with the name of a column is a text to
// search for ("gemm<float>"); but it is an error if it compares an unknown name with a number
// ("totl_ns>3us"). A filter in double quotes is always a text. Errors are kUsage and list the names
// of the columns.
Result<TablePick> ParseTablePick(const std::optional<std::string>& sort,
                                 const std::optional<std::string>& filter,
                                 const std::vector<Table>& tables);

// How many rows passed a filter (`shown`), of how many rows the table has (`of`).
struct PickedRows {
  size_t shown = 0, of = 0;
};
// Filters and sorts the rows. A condition or an order by a column that this table lacks has no
// effect. Rows without a value in the column fail every condition and are sorted last. nullopt if
// the table was not filtered.
std::optional<PickedRows> PickRows(Table& table, const TablePick& pick);

}  // namespace tacho
