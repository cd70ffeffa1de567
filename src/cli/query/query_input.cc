#include "cli/query/query_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include "base/closest.h"
#include "base/words.h"
#include "cli/screen/output.h"
#include "query/query_table.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

constexpr std::string_view kDots[] = {".tables", ".schema", ".help", ".quit"};
constexpr std::string_view kSqlWords[] = {
    "SELECT", "FROM",   "WHERE",   "GROUP BY",    "ORDER BY", "LIMIT",    "JOIN", "LEFT JOIN",
    "USING",  "HAVING", "WITH",    "DISTINCT",    "BETWEEN",  "LIKE",     "GLOB", "IS NULL",
    "AND",    "OR",     "NOT",     "DESC",        "AS",       "count(*)", "sum(", "avg(",
    "min(",   "max(",   "median(", "percentile(", "arg("};
constexpr std::string_view kDotHelp =
    ".tables          the tables\n"
    ".schema [TABLE]  their columns\n"
    ".quit            ends, as Ctrl-D does\n"
    "SQL              ends with a semicolon; SQLite's language, and arg(id, 'name'): an argument\n"
    "                 of a slice, such as arg(id, 'grid'); median(x) and percentile(x, 99)\n";

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

std::vector<const QueryTable*> AllTables() {
  std::vector<const QueryTable*> tables;
  for (const QueryTable& table : QueryTables()) tables.push_back(&table);
  return tables;
}
// The tables that a statement names; all tables if it names none.
std::vector<const QueryTable*> TablesIn(std::string_view sql) {
  std::set<std::string> words;
  std::string word;
  for (const char c : sql) {
    if (c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      words.insert(std::exchange(word, ""));
    }
  }
  words.insert(word);
  std::vector<const QueryTable*> tables = AllTables();
  std::erase_if(tables,
                [&](const QueryTable* table) { return !words.contains(std::string(table->name)); });
  return tables.empty() ? AllTables() : tables;
}

std::vector<std::string> ColumnNames(const std::vector<const QueryTable*>& tables) {
  std::set<std::string> names;
  for (const QueryTable* const table : tables) {
    for (const QueryColumn& column : table->columns) names.emplace(column.name);
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

bool IsLeftOutOfAll(std::string_view name, const std::vector<const QueryTable*>& tables) {
  return std::ranges::any_of(tables, [&](const QueryTable* table) {
    const auto column = std::ranges::find(table->columns, name, &QueryColumn::name);
    return column != table->columns.end() && column->hidden;
  });
}

// What the user may have meant by an unknown function: "percentile(x, 99)" for "p99",
// "percentile(x, 99.9)" for "p999"; "" for other names.
std::string PercentileMeant(std::string_view name) {
  const std::string_view digits = name.substr(std::min<size_t>(1, name.size()));
  if (name.empty() || AsciiLower(name.front()) != 'p' || digits.empty() ||
      !std::ranges::all_of(digits, IsDigit))
    return "";
  if (digits == "100") return "percentile(x, 100)";
  const std::string_view rest = digits.substr(std::min<size_t>(2, digits.size()));
  return fmt::format("percentile(x, {}{}{})", digits.substr(0, 2), rest.empty() ? "" : ".", rest);
}

// Adds to a statement's error what the user might have meant.
Error Explained(Error error, std::string_view sql) {
  constexpr std::string_view kNoTable = "no such table: ", kNoColumn = "no such column: ",
                             kNoFunction = "no such function: ";
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
    const std::vector<const QueryTable*> tables = TablesIn(sql);
    const std::string close = Closest(name, ColumnNames(tables));
    error.message += IsLeftOutOfAll(name, tables)
                         ? fmt::format(" (SELECT * leaves it out: SELECT *, {} has it)", name)
                     : !having.empty() ? fmt::format(" (it is one of {})", fmt::join(having, ", "))
                     : close.empty()   ? "; .schema lists them"
                                       : fmt::format(" (did you mean {}?)", close);
  } else if (error.message.starts_with(kNoFunction)) {
    const std::string meant = PercentileMeant(name_after(kNoFunction));
    error.message += meant.empty() ? "; beside SQLite's own there are median(x), percentile(x, 99) "
                                     "and arg(id, 'name')"
                                   : fmt::format(" (did you mean {}?)", meant);
  }
  return error;
}

// Skips white space, semicolons and line comments. A command with a dot may follow them.
void SkipToStatement(std::string_view& text) {
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n;"), text.size()));
    if (!text.starts_with("--")) return;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
}

// Where in its SQL the last Prepare failed, as a byte offset; 0 if unknown.
size_t OffsetOfError(sqlite3* database) {
#if SQLITE_VERSION_NUMBER >= 3038000
  return static_cast<size_t>(std::max(0, sqlite3_error_offset(database)));
#else
  return static_cast<void>(database), 0;
#endif
}

// Prefixes the message with the number of the line that has byte `at`. If the text is a single
// line, prefixes it with the number of the statement, unless that is 1.
Error Placed(Error error, std::string_view text, size_t at, size_t statement) {
  if (error.kind != ErrorKind::kUsage) return error;
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  if (text.find('\n') != std::string_view::npos) {
    const auto line = 1 + std::ranges::count(text.substr(0, at), '\n');
    error.message = fmt::format("line {}: {}", line, error.message);
  } else if (statement > 1) {
    error.message = fmt::format("statement {}: {}", statement, error.message);
  }
  return error;
}

}  // namespace

Result<bool> QueryInput::Run(std::string_view text) {
  const std::string_view whole = text;
  size_t number = 0;  // of the statement
  bool begins = true, is_first = true;
  // An empty line separates a table from the one before it.
  QueryOutput output = output_;
  output.write = [&](std::string_view part) -> Result<bool> {
    const bool is_next = begins && !is_first && output_.form != QueryForm::kJson;
    begins = is_first = false;
    if (is_next) {
      TACHO_ASSIGN_OR_RETURN(const bool is_read, output_.write("\n"));
      if (!is_read) return false;
    }
    return output_.write(part);
  };
  while (true) {
    SkipToStatement(text);
    begins = true;
    ++number;
    const size_t start = whole.size() - text.size();
    const auto fail = [&](const Error& error, size_t at) {
      const std::string_view sql = whole.substr(start, whole.find(';', start) - start);
      return tl::unexpected<Error>(Placed(Explained(error, sql), whole, at, number));
    };
    if (text.starts_with('.')) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(line.size());
      const auto quit = RunDot(line, output);
      if (!quit) return fail(quit.error(), start);
      if (*quit) return true;
      continue;
    }
    auto statement = session_.Next(text);
    if (!statement) {
      const size_t offset = OffsetOfError(session_.database().handle());
      return fail(statement.error(), whole.size() - text.size() + offset);
    }
    if (!*statement) return false;
    const auto written = WriteRows(*std::move(*statement), output);
    if (!written) return fail(written.error(), start);
    if (*written == RowsWritten::kNobodyReads) return true;
    if (*written == RowsWritten::kTop) {
      Complain(
          fmt::format("only the first {} rows: --top N, --csv or --json shows more", output_.top));
    }
  }
}

Result<bool> QueryInput::RunDot(std::string_view text, const QueryOutput& output) {
  text = text.substr(0, text.find_last_not_of(" \t\r\n;") + 1);
  const size_t blank = text.find_first_of(" \t");
  const std::string_view word = text.substr(0, blank);
  const std::string_view what =
      blank == std::string_view::npos ? "" : text.substr(text.find_last_of(" \t") + 1);
  if (word == ".quit" || word == ".exit") return true;
  const auto write = [&](std::string_view out) {
    return output.write(out).map([](bool is_read) { return !is_read; });
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
          Explained({ErrorKind::kUsage, "no such table: " + VisibleText(what)}, ""));
    return write(out);
  }
  return Fail(ErrorKind::kUsage, fmt::format("unknown command '{}': there are {}",
                                             VisibleText(word), fmt::join(kDots, ", ")));
}

bool BeginsStatement(const std::string& argument) {
  std::string_view rest = argument;
  const std::string first = AsciiLowered(TakeWord(rest));
  return (first == "select" || first == "with") && !rest.empty();
}

bool IsQueryText(const std::string& argument) {
  std::error_code error;
  if (std::filesystem::exists(argument, error)) return false;
  return argument.find_first_of(" \t\n(;") != std::string::npos ||
         argument.find_first_of("./", argument.starts_with('.') ? 1 : 0) == std::string::npos;
}

std::string DotOf(std::string_view line) {
  const auto begin = line.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  line = line.substr(begin, line.find_last_not_of(" \t\r\n;") + 1 - begin);
  if (line == "help" || line == "?" || line == "\\?") return ".help";
  if (line == ".exit" || line == "exit" || line == "quit" || line == "\\q") return ".quit";
  return std::ranges::find(kDots, line) == std::end(kDots) ? "" : std::string(line);
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
    std::ranges::move(ColumnNames(AllTables()), std::back_inserter(all));
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
