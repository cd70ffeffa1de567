#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/sqlite.h"
#include "text/text_style.h"

namespace tacho {

enum class QueryForm : uint8_t { kText, kMarkdown, kCsv, kJson };

struct QueryOutput {
  QueryForm form = QueryForm::kText;
  TextStyle style = {};
  // For kText on a terminal: leaves out columns that do not fit, and lists their names.
  bool fits = false;
  size_t top = 1000;         // most rows of kText and kMarkdown, which are built in memory
  std::string_view version;  // tacho's version, for kJson
  // Returns false if nobody reads the output any more.
  std::function<Result<bool>(std::string_view)> write;
};

enum class RowsWritten : uint8_t { kAll, kTop, kNobodyReads };

// Runs the statement and writes its rows. CSV and JSON are written while rows are read. Integers
// are never rounded. Other numbers have every digit in CSV and JSON; in tables they are rounded to
// at least six digits and three decimals, without zeros at the end. NULL is an empty cell, and
// absent in JSON. Blobs are in hexadecimal. Columns with the same name are numbered: "name",
// "name_2". kTop: there were more rows than `top`. kNobodyReads: `write` returned false, and the
// statement was ended.
//
// Memory: SQLite's (see QuerySession), and a few times the size of the texts that are held at once.
// For CSV and JSON these are 16 MB, or one row if that is larger; for a table at most 512 MB. A
// larger table fails with kUsage.
Result<RowsWritten> WriteRows(SqliteStatement statement, const QueryOutput& output);

}  // namespace tacho
