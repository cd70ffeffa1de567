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
    std::optional<bool> descending = {};  // absent: numbers are, texts are not
  };
  // Rows whose cell compares so. Durations and shares may have units: 10us, 5%.
  struct Condition {
    std::string column;
    std::string comparison;  // > >= < <= = !=
    std::string value;
  };
  std::optional<Order> order = {};
  std::optional<Condition> condition = {};
  std::string text = {};  // rows with this in a text, in upper or lower case; "": all

  [[nodiscard]] bool filters() const { return condition || !text.empty(); }
};

// Reads "--sort COLUMN[:asc|desc]" and "--filter TEXT|COLUMN>VALUE" for tables of which at least
// one must have the column. Without a column of that name it is a text ("gemm<float>"), unless a
// name is compared with a number ("totl_ns>3us"); one in double quotes is always a text. kUsage
// with the columns there are.
Result<TablePick> ParseTablePick(const std::optional<std::string>& sort,
                                 const std::optional<std::string>& filter,
                                 const std::vector<Table>& tables);

// How many rows were left out, of a table that the filter applies to.
struct PickedRows {
  size_t shown = 0, of = 0;
};
// Filters and sorts. A column that the table lacks changes nothing, rows without a value come last
// and pass no condition. nullopt: the filter says nothing of this table.
std::optional<PickedRows> PickRows(Table& table, const TablePick& pick);

}  // namespace tacho
