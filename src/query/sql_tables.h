#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "io/sqlite.h"
#include "query/query_table.h"

namespace tacho {

// Adds the tables of QueryTables() to `database` as SQLite's virtual tables
// (https://www.sqlite.org/vtab.html), which read the traces in place. The tables evaluate
// constraints on times, keys, ranks, traces and texts themselves, and can give rows sorted by
// texts, rank or trace. `run` must outlive the database. Scans call `stop` regularly; if it returns
// true, the statement ends with kInterrupted.
Result<void> AddTables(SqliteDatabase& database, const QueriedRun& run,
                       const std::function<bool()>& stop = {});

void GiveValue(sqlite3_context* context, const QueryValue& value);

// The declaration of a table's columns: "CREATE TABLE slices(...)".
std::string DeclarationOf(const QueryTable& table);

}  // namespace tacho
