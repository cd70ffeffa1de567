#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "query/queried_trace.h"

namespace tacho {

// The "PRAGMA application_id" of such a file: "tach".
inline constexpr uint32_t kSqliteApplicationId = 0x74616368;

// Writes the tables of `tacho query` (QueryTables, docs/query.md) into the empty file `path`, with
// the same columns (and `trace`) and rows. There are indexes on ids, on columns that refer to ids,
// and on starts. Rows with a start and an end are written only if they overlap the window of their
// trace (`windows`: by trace, on its clock); `devices`, `ranks` and `notes` are complete. Text is
// UTF-8; other bytes become U+FFFD.
//
// kOutput: the file cannot be written. kInterrupted: `stop`, which is called every few thousand
// rows, returned true. Memory: some pages.
Result<void> WriteSqliteFile(const QueriedRun& run, std::span<const Interval> windows,
                             const std::string& path, const std::function<bool()>& stop);

}  // namespace tacho
