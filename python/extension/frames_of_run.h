#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "frame.h"
#include "query/query_table.h"

namespace tacho {

// A table of a run as a frame has it: a table of `tacho query`, its rows that `has` keeps, and
// arguments of their slices as further columns.
struct FrameTable {
  QueryTable of;
  struct Argument {
    std::string_view column, key;  // `key`: as in the file
    FrameKind kind;
    std::string_view says;
  };
  std::vector<Argument> arguments = {};
};

// The tables of `tacho query`, and those that are parts of them: `copies` and `annotations` (of
// `slices`), `collectives` (of `kernels`).
const std::vector<FrameTable>& FrameTables();

// Reads a table of the run. The columns that SQL hides are there too. Cost: O(rows x columns);
// memory: 8 bytes a number, 4 a word. `keeps`: which rows; empty: all. If `stop` returns true,
// which is asked every 65,536 rows, it ends with kInterrupted.
Result<Frame> FrameOf(const FrameTable& table, const QueriedRun& run,
                      const std::function<bool(const QueryRow&)>& keeps,
                      const std::function<bool()>& stop);

// The rows of an SQL query (query_session.h). A column is of integers if all its values are, else
// of numbers if they are, else of texts; one without a value is of integers.
Result<Frame> FrameOfQuery(const std::string& sql, const QueriedRun& run,
                           const std::function<bool()>& stop);

}  // namespace tacho
