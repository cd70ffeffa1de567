#pragma once

#include "io/sqlite.h"

namespace tacho {

// Adds the aggregate functions median(X) and percentile(X, P) to `database`. They use the nearest
// rank: the smallest value such that at least P % of all values do not exceed it (as in
// DurationStats). NULLs are ignored; without other values the result is NULL. For integers the
// result is an integer. P is from 0 to 100, the same in all rows; otherwise the statement fails.
//
// Cost: O(n), and 8 to 16 bytes a value of SQLite's memory, which count towards its limit.
void AddPercentiles(SqliteDatabase& database);

}  // namespace tacho
