#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "text/table.h"

namespace tacho {

// A column as people will see it: the heading with its unit, and the cells as visible text.
struct ShownColumn {
  std::string heading;
  std::vector<std::string> cells;
  std::vector<std::string> distinct;  // the cells before VisibleText; only if TableColumn::distinct
  size_t index = 0;                   // in Table::columns
  bool left = false;
  bool stretches = false;
  int gives_way = 0;
  size_t narrowest = 0, whole = 0, width = 0;  // whole: the width of the widest cell
  std::vector<std::string> marks = {};
};

// The columns to show. Columns without a value in any row are left out; so are bars and trends,
// unless `drawings`.
std::vector<ShownColumn> ShowColumns(const Table& table, const TextStyle& style, bool drawings);

// Cuts the cells to the widths of their columns. Columns whose cells must look different are cut
// together, to the width of the narrowest one that needs a cut.
void FitCells(std::vector<ShownColumn>& columns, bool unicode);

bool IsDrawing(Unit unit);

}  // namespace tacho
