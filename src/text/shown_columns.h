#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "text/table.h"

namespace tacho {

// A column as it will be shown: the heading with its unit, and the cells as visible text.
struct ShownColumn {
  std::string heading;
  std::vector<std::string> cells;
  // The cells before VisibleText; only for TableColumn::distinct.
  std::vector<std::string> distinct;
  size_t index = 0;  // index in Table::columns
  bool left = false;
  bool stretches = false;
  int gives_way = 0;
  size_t narrowest = 0, whole = 0, width = 0;  // `whole` is the width of the widest cell
  std::vector<std::string> marks = {};
};

// The columns to show. A column is left out if it has no value in any row (see Unit::kExact for the
// exception). Without `drawings`, bars and trends are left out too.
std::vector<ShownColumn> ShowColumns(const Table& table, const TextStyle& style, bool drawings);

// Cuts the cells to the widths of their columns. If the cells of several columns must look
// different from each other (TableColumn::distinct), all these columns are cut to one width: that
// of the narrowest one in which a cell does not fit.
void FitCells(std::vector<ShownColumn>& columns, bool unicode);

bool IsDrawing(Unit unit);

}  // namespace tacho
