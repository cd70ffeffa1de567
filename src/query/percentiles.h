#pragma once

#include "io/sqlite.h"

namespace tacho {

// Makes the aggregate functions median(X) and percentile(X, P) part of `database`: by nearest rank,
// the smallest value that at least P % of all do not exceed (DurationStats has the same). NULL does
// not count; of none it is NULL. Of integers the result is an integer. P is from 0 to 100, the same
// in all rows. Other values fail the statement.
//
// Cost: O(n), and 8 to 16 bytes a value of SQLite's memory, which its bound includes.
void AddPercentiles(SqliteDatabase& database);

}  // namespace tacho
