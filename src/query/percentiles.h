#pragma once

#include "io/sqlite.h"

namespace tacho {

// Adds the aggregate functions median(X) and percentile(X, P) to `database`. The result is one of
// the values (nearest rank, as in DurationStats): the smallest value that is at least as large as P
// % of all values. NULLs are ignored; without other values the result is NULL. For integers the
// result is an integer. P must be from 0 to 100 and the same in all rows; otherwise the statement
// fails.
//
// Cost: O(n). Uses 8 to 16 bytes for each value from SQLite's memory, which has a limit.
void AddPercentiles(SqliteDatabase& database);

}  // namespace tacho
