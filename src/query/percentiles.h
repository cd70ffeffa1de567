#pragma once

#include "io/sqlite.h"

namespace tacho {

// Adds the aggregate functions median(X) and percentile(X, P) to `database`. They are by nearest
// rank: the smallest value that at least P % of all do not exceed (as in DurationStats). NULLs are
// ignored; without any other value the result is NULL. For integers the result is an integer. P is
// from 0 to 100, the same in all rows. Other values fail the statement.
//
// Cost: O(n), and 8 to 16 bytes a value of SQLite's memory, which count towards its limit.
void AddPercentiles(SqliteDatabase& database);

}  // namespace tacho
