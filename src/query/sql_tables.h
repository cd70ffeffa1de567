#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "io/sqlite.h"
#include "query/query_table.h"

namespace tacho {

// Makes the tables of QueryTables() part of `database`, as SQLite's virtual tables
// (https://www.sqlite.org/vtab.html): they read the traces in place. Constraints on times, keys,
// ranks and texts, and orders by texts, are worked off there. `run` must outlive the database.
// A statement ends with kInterrupted where `stop`, which scans ask now and then, returns true.
Result<void> AddTables(SqliteDatabase& database, const QueriedRun& run,
                       const std::function<bool()>& stop = {});

void GiveValue(sqlite3_context* context, const QueryValue& value);

// "CREATE TABLE slices(...)".
std::string DeclarationOf(const QueryTable& table);

}  // namespace tacho
