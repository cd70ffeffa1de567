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

// The columns to show. Leaves out columns that have no value in any row and, without `drawings`,
// bars and trends.
std::vector<ShownColumn> ShowColumns(const Table& table, const TextStyle& style, bool drawings);

// Cuts the cells to the widths of their columns. If cells of several columns must look different
// (TableColumn::distinct), these columns are all cut to the width of the narrowest one that needs a
// cut.
void FitCells(std::vector<ShownColumn>& columns, bool unicode);

bool IsDrawing(Unit unit);

}  // namespace tacho
