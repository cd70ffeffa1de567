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
  size_t top = 1000;         // rows of kText and kMarkdown, which are put together in memory
  std::string_view version;  // of tacho, for kJson
  std::function<Result<void>(std::string_view)> write;
};

// Runs the statement and writes its rows; CSV and JSON as they come. Integers are whole, numbers
// have every digit, NULL is nothing, bytes are in hexadecimal. Columns of one name are numbered:
// "name", "name_2". True: there were more rows than `top`.
Result<bool> WriteRows(SqliteStatement statement, const QueryOutput& output);

}  // namespace tacho
