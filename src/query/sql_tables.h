#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "io/sqlite.h"
#include "query/query_table.h"

namespace tacho {

// Adds the tables of QueryTables() to `database` as SQLite's virtual tables
// (https://www.sqlite.org/vtab.html), which read the traces in place. They themselves evaluate
// constraints on times, keys, ranks and texts, and sort by texts. `run` must outlive the database.
// Scans call `stop` regularly; if it returns true, the statement ends with kInterrupted.
Result<void> AddTables(SqliteDatabase& database, const QueriedRun& run,
                       const std::function<bool()>& stop = {});

void GiveValue(sqlite3_context* context, const QueryValue& value);

// "CREATE TABLE slices(...)".
std::string DeclarationOf(const QueryTable& table);

}  // namespace tacho
