#include "cli/query_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>

#include "base/closest.h"
#include "cli/output.h"
#include "query/query_table.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr std::string_view kDots[] = {".tables", ".schema", ".help", ".quit"};
constexpr std::string_view kSqlWords[] = {
    "SELECT", "FROM", "WHERE",    "GROUP BY", "ORDER BY", "LIMIT", "JOIN",    "LEFT JOIN", "USING",
    "HAVING", "WITH", "DISTINCT", "BETWEEN",  "LIKE",     "GLOB",  "IS NULL", "AND",       "OR",
    "NOT",    "DESC", "AS",       "count(*)", "sum(",     "avg(",  "min(",    "max(",      "arg("};
constexpr std::string_view kDotHelp =
    ".tables          the tables\n"
    ".schema [TABLE]  their columns\n"
    ".quit            ends, as Ctrl-D does\n"
    "SQL              ends with a semicolon; SQLite's language, and arg(id, 'name'): an argument\n"
    "                 of a slice, such as arg(id, 'grid')\n";

std::string TableList() {
  std::string out;
  for (const QueryTable& table : QueryTables())
    out += fmt::format("{}  {}\n", PadRight(table.name, 10), table.says);
  return out;
}

std::string SchemaOf(const QueryTable& table) {
  std::string out = fmt::format("{}: {}\n", table.name, table.says);
  for (const QueryColumn& column : table.columns) {
    out += fmt::format("  {} {} {}{}\n", PadRight(column.name, 19), PadRight(column.type, 7),
                       column.says, column.hidden ? " (not in SELECT *)" : "");
  }
  return out;
}

std::vector<std::string> ColumnNames() {
  std::set<std::string> names;
  for (const QueryTable& table : QueryTables()) {
    for (const QueryColumn& column : table.columns) names.emplace(column.name);
  }
  return {names.begin(), names.end()};
}
std::vector<std::string> TableNames() {
  std::vector<std::string> names;
  for (const QueryTable& table : QueryTables()) names.emplace_back(table.name);
  return names;
}

std::vector<std::string> TablesWith(std::string_view column) {
  std::vector<std::string> tables;
  for (const QueryTable& table : QueryTables()) {
    if (std::ranges::find(table.columns, column, &QueryColumn::name) != table.columns.end())
      tables.emplace_back(table.name);
  }
  return tables;
}

// The error of a statement, with what might have been meant.
Error Explained(Error error) {
  constexpr std::string_view kNoTable = "no such table: ", kNoColumn = "no such column: ";
  const auto name_after = [&](std::string_view what) {
    const std::string name = error.message.substr(what.size());
    return name.substr(name.rfind('.') + 1);
  };
  if (error.message.starts_with(kNoTable)) {
    const std::string close = Closest(name_after(kNoTable), TableNames());
    error.message += close.empty() ? fmt::format("; there are {}", fmt::join(TableNames(), ", "))
                                   : fmt::format(" (did you mean {}?)", close);
  } else if (error.message.starts_with(kNoColumn)) {
    const std::string name = name_after(kNoColumn);
    const std::vector<std::string> having = TablesWith(name);
    const std::string close = Closest(name, ColumnNames());
    error.message += !having.empty() ? fmt::format(" (it is one of {})", fmt::join(having, ", "))
                     : close.empty() ? "; .schema lists them"
                                     : fmt::format(" (did you mean {}?)", close);
  }
  return error;
}

// Past white space, semicolons and comments of a line, after which a command with a dot may stand.
void SkipToStatement(std::string_view& text) {
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n;"), text.size()));
    if (!text.starts_with("--")) return;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
}

}  // namespace

Result<bool> QueryInput::Run(std::string_view text) {
  while (true) {
    SkipToStatement(text);
    if (text.starts_with('.')) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(line.size());
      const auto quit = RunDot(line);
      if (!quit || *quit) return quit;
      continue;
    }
    auto statement = session_.Next(text);
    if (!statement) return tl::unexpected<Error>(Explained(statement.error()));
    if (!*statement) return false;
    const auto written = WriteRows(*std::move(*statement), output_);
    if (!written) return tl::unexpected<Error>(Explained(written.error()));
    if (*written == RowsWritten::kNobodyReads) return true;
    if (*written == RowsWritten::kTop) {
      Complain(
          fmt::format("only the first {} rows: --top N, --csv or --json shows more", output_.top));
    }
  }
}

Result<bool> QueryInput::RunDot(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \t\r\n;") + 1);
  const size_t blank = text.find_first_of(" \t");
  const std::string_view word = text.substr(0, blank);
  const std::string_view what =
      blank == std::string_view::npos ? "" : text.substr(text.find_last_of(" \t") + 1);
  if (word == ".quit" || word == ".exit") return true;
  const auto write = [&](std::string_view out) {
    return output_.write(out).map([](bool is_read) { return !is_read; });
  };
  if (word == ".tables") return write(TableList());
  if (word == ".help") return write(kDotHelp);
  if (word == ".schema") {
    std::string out;
    for (const QueryTable& table : QueryTables()) {
      if (what.empty() || table.name == what) out += (out.empty() ? "" : "\n") + SchemaOf(table);
    }
    if (out.empty())
      return tl::unexpected<Error>(
          Explained({ErrorKind::kUsage, "no such table: " + VisibleText(what)}));
    return write(out);
  }
  return Fail(ErrorKind::kUsage, fmt::format("unknown command '{}': there are {}",
                                             VisibleText(word), fmt::join(kDots, ", ")));
}

bool IsQueryText(const std::string& argument) {
  std::error_code error;
  if (std::filesystem::exists(argument, error)) return false;
  return argument.find_first_of(" \t\n(;") != std::string::npos ||
         argument.find_first_of("./", argument.starts_with('.') ? 1 : 0) == std::string::npos;
}

bool IsWholeSql(const std::string& text) { return sqlite3_complete(text.c_str()) != 0; }

std::vector<std::string> QueryWordsFrom(std::string_view before, std::string_view begun) {
  const auto same = [](char a, char b) {
    const auto lower = [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    };
    return lower(a) == lower(b);
  };
  before = before.substr(0, before.find_last_not_of(" \t") + 1);
  before = before.substr(before.find_last_of(" \t") + 1);
  std::vector<std::string> all = TableNames();
  if (!std::ranges::equal(before, std::string_view("FROM"), same) &&
      !std::ranges::equal(before, std::string_view("JOIN"), same)) {
    std::ranges::move(ColumnNames(), std::back_inserter(all));
    all.insert(all.end(), std::begin(kSqlWords), std::end(kSqlWords));
    all.insert(all.end(), std::begin(kDots), std::end(kDots));
  }
  std::erase_if(all, [&](const std::string& word) {
    return word.size() < begun.size() ||
           !std::equal(begun.begin(), begun.end(), word.begin(), same);
  });
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace tacho
