#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "text/table.h"

namespace tacho {

// A column ready for people: the heading with its unit, and the cells as visible text.
struct ShownColumn {
  std::string heading;
  std::vector<std::string> cells;
  std::vector<std::string> distinct;  // of a column whose cells are to look different: the cells
  size_t index = 0;                   // in Table::columns
  bool left = false;
  bool stretches = false;
  int gives_way = 0;
  size_t narrowest = 0, whole = 0, width = 0;  // whole: of its widest cell
  std::vector<std::string> marks = {};
};

// The columns that are shown: those without a value in any row are left out, as are bars and
// trends, unless `drawings`.
std::vector<ShownColumn> ShowColumns(const Table& table, const TextStyle& style, bool drawings);

// Cuts the cells to the widths. Columns whose cells are to look different are cut together, to the
// narrowest of those that are cut at all.
void FitCells(std::vector<ShownColumn>& columns, bool unicode);

bool IsDrawing(Unit unit);

}  // namespace tacho
